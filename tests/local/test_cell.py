"""Protects cells: what is separate in one, that its result or exception comes back, that nothing of it stays, that it
works as root and as nobody, and that a machine which refuses it is told apart from one that allows it."""

import asyncio
import errno
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from machine_noise import measured_lateness

from harness.environments.linux import sysctls
from harness.environments.linux.packets import TREAT, PacketTable, rules_for
from harness.environments.local import namespaces
from harness.environments.local.cell import call_in_cell, probe_namespaces
from harness.environments.local.syscalls import unshare
from harness.environments.probe import ProbeFailed
from harness.environments.world import EnvironmentUnavailable, WorldError
from harness.levers import FilterPackets, PacketAction
from harness.story import Kernel

pytestmark = pytest.mark.cell

NOBODY = 65534
MACHINE = Path("/proc/self/ns")


def _namespace(kind: str) -> str:
    return str((MACHINE / kind).readlink())


def test_network_processes_and_temporary_files_are_a_cell_s_own() -> None:
    marker = namespaces.TEMPORARY / f"faultlab-test-{os.getpid()}"
    marker.write_text("the machine's own")

    async def look() -> tuple[dict[str, str], list[str], list[str], bool, int]:
        (namespaces.TEMPORARY / "mine").write_text("x")
        processes = sorted(folder.name for folder in Path("/proc").iterdir() if folder.name.isdigit())
        return (
            {kind: _namespace(kind) for kind in ("net", "pid_for_children", "mnt", "user")},
            processes,
            [name for _, name in socket.if_nameindex()],
            marker.exists(),
            os.getuid(),
        )

    try:
        inside, processes, interfaces, sees_marker, user = call_in_cell(look, timeout_s=10)
    finally:
        marker.unlink()
    assert all(inside[kind] != _namespace(kind) for kind in inside)
    assert processes == ["1", "2"]
    assert interfaces == ["lo"]
    assert not sees_marker
    assert not (namespaces.TEMPORARY / "mine").exists()
    assert user == 0


def test_folders_and_programs_below_the_temporary_files_stay_where_they_are() -> None:
    """`--out /dev/shm/results`, and a scenario or a program that somebody keeps there."""
    folder = Path(tempfile.mkdtemp(dir=namespaces.TEMPORARY))
    program = Path(shutil.copy("/bin/true", namespaces.TEMPORARY / f"{folder.name}-program"))
    link = namespaces.TEMPORARY / f"{folder.name}-link"
    link.symlink_to(folder.name)

    async def use() -> int:
        (link / "from-the-cell").write_text("kept")
        (namespaces.TEMPORARY / f"{folder.name}-of-the-cell").write_text("gone with it")
        return subprocess.run([program], check=False).returncode

    try:
        assert call_in_cell(use, timeout_s=10) == 0
        assert (folder / "from-the-cell").read_text() == "kept"
        assert not (namespaces.TEMPORARY / f"{folder.name}-of-the-cell").exists()
    finally:
        shutil.rmtree(folder)
        program.unlink()
        link.unlink()


def test_cells_use_the_same_addresses_side_by_side() -> None:
    async def listen() -> int:
        server = await asyncio.start_server(lambda r, w: w.close(), "127.0.2.1", 9092)
        await asyncio.sleep(0.3)
        reader, _ = await asyncio.open_connection("127.0.2.1", 9092)
        await reader.read()
        server.close()
        return os.getpid()

    with ThreadPoolExecutor(16) as lanes:
        assert list(lanes.map(lambda _: call_in_cell(listen, timeout_s=30), range(16))) == [2] * 16


def test_exceptions_come_back_with_the_cell_s_traceback() -> None:
    async def fail() -> None:
        raise ConnectionResetError(errno.ECONNRESET, "gone")

    with pytest.raises(ConnectionResetError, match="gone") as caught:
        call_in_cell(fail, timeout_s=10)
    assert "in fail" in caught.value.__notes__[0]


class Homebound(Exception):
    """Its text alone does not make it again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first}; {second}")


def test_an_exception_that_cannot_travel_is_told_by_name() -> None:
    async def fail() -> None:
        raise Homebound("a reason", "a remedy")

    with pytest.raises(RuntimeError, match="Homebound: a reason; a remedy"):
        call_in_cell(fail, timeout_s=10)


@pytest.mark.parametrize(
    "error",
    [
        EnvironmentUnavailable("a reason", "a remedy"),
        WorldError("log-unreadable", "its file is gone"),
        ProbeFailed(("127.0.2.1", 9092), "was closed before it was answered"),
    ],
)
def test_what_a_world_raises_comes_back_as_it_was(error: Exception) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        call_in_cell(fail, timeout_s=10)
    assert str(caught.value) == str(error)
    told = {name: value for name, value in vars(caught.value).items() if name != "__notes__"}
    assert told == vars(error), "what programs ask it for"


def test_a_cell_that_overruns_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    async def overrun() -> None:
        subprocess.Popen(["sleep", "1000"], env={"CELL": str(tmp_path)})
        await asyncio.sleep(1000)

    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"after 0\.5 s"):
        call_in_cell(overrun, timeout_s=0.5)
    assert time.monotonic() - began >= 0.5
    assert _processes_with(f"CELL={tmp_path}") == []


def test_a_cell_whose_function_kills_itself_is_an_error() -> None:
    async def die() -> None:
        os._exit(3)

    with pytest.raises(RuntimeError, match="ended without a result"):
        call_in_cell(die, timeout_s=10)


def test_orphans_are_collected_in_a_cell() -> None:
    async def leave_orphans() -> list[str]:
        subprocess.run(["sh", "-c", "for i in 1 2 3; do sleep 0.05 & done"], check=True)
        loop = asyncio.get_running_loop()
        until = loop.time() + 5
        while True:
            left = [f.name for f in Path("/proc").iterdir() if f.name.isdigit() and int(f.name) > 2]
            if not left or loop.time() > until:
                return left
            await asyncio.sleep(0.02)

    assert call_in_cell(leave_orphans, timeout_s=10) == []


def test_the_kernel_s_settings_are_pinned_and_recorded() -> None:
    async def facts() -> object:
        return sysctls.kernel()

    kernel = call_in_cell(facts, timeout_s=10)
    assert isinstance(kernel, Kernel)
    assert kernel.release == os.uname().release
    assert kernel.hz in (100, 250, 300, 1000)
    present = {path: value for path, value in sysctls.PINNED.items() if Path("/proc/sys/net", path).exists()}
    assert kernel.sysctls == {
        f"net.{path.replace('/', '.')}": " ".join(value.split()) for path, value in present.items()
    }


def test_a_dial_into_the_dark_is_retried_as_pinned() -> None:
    """The first retransmission of a SYN comes after one second, whatever the machine's own tuning is."""

    async def dial() -> tuple[float, float]:
        late_s = measured_lateness()
        table = PacketTable()
        await table.open()
        lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
        group = await table.add(TREAT, [rule.expressions for rule in rules_for(lever, "127.0.2.1", 9092)])
        await asyncio.start_server(lambda r, w: w.close(), "127.0.2.1", 9092)
        began = time.monotonic()
        dialling = asyncio.ensure_future(asyncio.open_connection("127.0.2.1", 9092))
        while sum(await group.packet_counts()) < 1:
            await asyncio.sleep(0.001)
        await group.remove()
        await dialling
        took_s = time.monotonic() - began
        table.close()
        return took_s, late_s()

    took_s, late_s = call_in_cell(dial, timeout_s=20)
    # One second and at most a jiffy of HZ 100 early; late by what the timer wheel and this machine add.
    assert 0.99 <= took_s < 2.0 + late_s


_AS_NOBODY = """
import os, sys
import harness.environments.local.cell as cell
os.setgroups([])
os.setresgid({user}, {user}, {user})
os.setresuid({user}, {user}, {user})
async def look():
    from pathlib import Path
    Path("/dev/shm/mine").write_text("x")
    return os.getpid(), os.getuid()
for _ in range(3):
    assert cell.call_in_cell(look, timeout_s=20) == (2, 0)
assert cell.probe_namespaces() is None
print("as", os.getuid())
"""


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become somebody else; this user is an ordinary one already"
)
def test_nobody_can_open_cells() -> None:
    # Not `subprocess(user=)`: an interpreter below /root cannot be started by nobody, only gone on with.
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY.format(user=NOBODY)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"as {NOBODY}\n"), done.stderr


def test_this_machine_allows_cells() -> None:
    assert probe_namespaces() is None


_DENIED = """
import sys
from pathlib import Path
from harness.environments.local.cell import probe_namespaces
Path("/proc/sys/user/{limit}").write_text("0")
refused = probe_namespaces()
print(refused.reason)
print(refused.remedy)
"""


@pytest.mark.parametrize("limit", ["max_user_namespaces", "max_net_namespaces", "max_pid_namespaces"])
def test_a_refusal_is_told_with_its_reason_and_remedy(limit: str) -> None:
    """The limits are really set, in a user namespace in which this process is root."""
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", _DENIED.format(limit=limit)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reason, remedy = done.stdout.splitlines()
    assert reason == f"namespaces are switched off: user.{limit} is 0"
    assert f"sudo sysctl -w user.{limit}=" in remedy


_USED_UP = """
import subprocess
from pathlib import Path
from harness.environments.local.cell import probe_namespaces
Path("/proc/sys/user/max_user_namespaces").write_text("1")
holder = subprocess.Popen(["unshare", "--user", "sh", "-c", "echo up; exec sleep 100"], stdout=subprocess.PIPE)
holder.stdout.readline()
refused = probe_namespaces()
holder.kill()
print(refused.reason)
"""


def test_a_reached_limit_is_told_from_a_switched_off_one() -> None:
    """One user namespace is allowed, and somebody else has it."""
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", _USED_UP],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the limit of namespaces is reached: user.max_user_namespaces=1" in done.stdout


_CHROOTED = """
import os, subprocess, sys
from harness.environments.local.cell import probe_namespaces
os.mkdir("proc")
subprocess.run(["mount", "--rbind", "/proc", "proc"], check=True)
os.chroot(".")
print(probe_namespaces().reason)
"""


def test_a_chroot_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", _CHROOTED],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "user namespaces are refused inside a chroot\n"), done.stderr


CASES: list[tuple[dict[str, str], int, int, str, str]] = [
    ({"kernel/unprivileged_userns_clone": "0"}, errno.EPERM, 1000, "unprivileged_userns_clone is 0", "userns_clone=1"),
    (
        {"kernel/apparmor_restrict_unprivileged_userns": "1"},
        errno.EPERM,
        1000,
        "AppArmor",
        "apparmor_restrict_unprivileged_userns=0",
    ),
    (
        {"kernel/apparmor_restrict_unprivileged_userns": "1"},
        errno.EACCES,
        1000,
        "AppArmor",
        "apparmor_restrict_unprivileged_userns=0",
    ),
    ({}, errno.EINVAL, 1000, "kernel lacks namespaces", "CONFIG_USER_NS"),
    ({}, errno.EUSERS, 1000, "limit of namespaces is reached", "raise these limits"),
]


@pytest.mark.parametrize(("settings", "number", "user", "reason", "remedy"), CASES)
def test_settings_that_this_machine_does_not_have_are_distinguished(
    settings: dict[str, str], number: int, user: int, reason: str, remedy: str
) -> None:
    """Kernels of other distributions: only the reading of /proc/sys is replaced, the decision is the real one."""
    explained = namespaces.explain(OSError(number, os.strerror(number)), user=user, setting=settings.get)
    assert reason in explained.reason
    assert remedy in explained.remedy


def test_unshare_in_a_process_with_threads_is_an_error_that_names_the_call() -> None:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(os.getpid).result()
        with pytest.raises(OSError, match="unshare: Invalid argument"):
            unshare(0x10000000)


def _processes_with(entry: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if entry.encode() in environment:
                found.append(int(folder.name))
    return found
