"""What is left of us on this machine: looked up by a mark in the environment, which every fork and exec inherits."""

from pathlib import Path

MARK = "FAULTLAB_TEST_MARK"


def processes_marked(mark: str) -> list[int]:
    """Living processes with this mark, whatever namespace they are in; zombies are not alive."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def network_namespaces_of(processes: list[int]) -> set[str]:
    found = set()
    for pid in processes:
        try:
            found.add(str(Path(f"/proc/{pid}/ns/net").readlink()))
        except OSError:
            continue
    return found


def mounts_of_ours() -> list[str]:
    """Mounts of cells that can be seen from outside: there should never be one."""
    return [line for line in Path("/proc/self/mounts").read_text().splitlines() if line.startswith("faultlab ")]
