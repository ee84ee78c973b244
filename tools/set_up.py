"""Sets the checkout up in `.venv`: packages, the Toxiproxy server, a Java runtime for Spark. Standard library only.

Runs before anything is installed, so it imports nothing of the project. It can be interrupted and repeated at any
moment: each step either left its result whole or is done again. When nothing changed it only looks, and is done in a
fraction of a second.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
PIP_INSTALL = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
STAMP = VENV / "faultlab-set-up.json"
LOG = ROOT / ".set-up.log"
MIN_PYTHON = (3, 11)
HEARTBEAT_S = 10.0
TAIL = 12
"""Lines of output shown of a step that failed."""


class SetUpError(Exception):
    """What is missing, and what to do about it."""


def main() -> int:
    try:
        check_python()
        with exclusive_lock():
            return set_up()
    except SetUpError as stopped:
        print(f"set-up cannot go on: {stopped}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("\nset-up interrupted; run the same command again to go on", file=sys.stderr)
        return 130


def check_python() -> None:
    if sys.version_info < MIN_PYTHON:
        found = ".".join(str(part) for part in sys.version_info[:3])
        raise SetUpError(f"python3 is {found}, faultlab needs 3.11 or newer; install one and run `make PYTHON=...`")
    if sys.platform != "linux":
        raise SetUpError(f"faultlab's cells need Linux, this is {sys.platform}; use a Linux machine or a virtual one")


@contextmanager
def exclusive_lock() -> Iterator[None]:
    """Two set-ups of one checkout would write into one `.venv`: the second waits."""
    with (ROOT / ".set-up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another set-up of this checkout is running; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up() -> int:
    wanted = fingerprint()
    packages, products = read_stamp()
    if packages == wanted and products and all(Path(path).exists() for path in products):
        return 0
    print("setting up in .venv (once; about 4 minutes with downloads)")
    LOG.write_text("")
    with ThreadPoolExecutor(1) as beside:
        # It needs no packages, and Go builds it on the processor that pip leaves idle.
        toxiproxy = beside.submit(
            run, "Toxiproxy server", [sys.executable, "-m", "harness.toxiproxy"], "there is no Toxiproxy server"
        )
        if packages != wanted:
            install_packages()
        java = run("Java for Spark", [str(PYTHON), "-m", "reports.jvm"], "there is no Java runtime for Spark")
        products = [toxiproxy.result(), java]
    STAMP.write_text(json.dumps({"packages": wanted, "products": products}))
    LOG.unlink()
    print("set-up done")
    return 0


def install_packages() -> None:
    make_venv()
    run(
        "packages",
        [*PIP_INSTALL, "--require-hashes", "-r", "constraints.txt"],
        "a package could not be installed: is the package index reachable? (pip's own settings are used)",
    )
    run("faultlab", [*PIP_INSTALL, "--no-deps", "-e", "./"], "faultlab itself could not be installed")


def fingerprint() -> str:
    """Changes with everything that the packages depend on."""
    whole = hashlib.sha256()
    for part in (ROOT / "constraints.txt", ROOT / "pyproject.toml"):
        whole.update(part.read_bytes())
    whole.update(f"{sys.version} {ROOT}".encode())
    return whole.hexdigest()


def read_stamp() -> tuple[str, list[str]]:
    """What the last complete set-up was made from, and the files that it left; nothing where there was none."""
    try:
        stamp = json.loads(STAMP.read_text())
        return stamp["packages"], stamp["products"]
    except (OSError, ValueError, KeyError):
        return "", []


def make_venv() -> None:
    """A whole `.venv`, made anew where an interrupted one is not usable or belongs to another Python."""
    if PYTHON.exists() and succeeds(
        [str(PYTHON), "-c", "import pip, sys; assert sys.version_info[:2] == " + python_version_text()]
    ):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    run(
        "virtual environment",
        [sys.executable, "-m", "venv", str(VENV)],
        "python3 has no venv module with pip (Debian, Ubuntu: apt install python3-venv)",
    )


def python_version_text() -> str:
    return repr(tuple(sys.version_info[:2]))


def succeeds(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(step: str, command: list[str], missing: str) -> str:
    """Run one step with a live line; its last line of output is its result. Raises SetUpError with its last words."""
    began = time.monotonic()
    live = sys.stdout.isatty()
    shown_at = began
    last = ""
    tail: deque[str] = deque(maxlen=TAIL)
    environment = dict(os.environ, PYTHONUNBUFFERED="1", DIST_EXTRA_CONFIG=str(ROOT / "tools" / "wheels.cfg"))
    with (
        LOG.open("a") as log,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                log.write(line)
                tail.append("    " + line.rstrip())
                last = line.strip() or last
                now = time.monotonic()
                if live:
                    print(f"\r\033[K  {step}: {truncated(last)}", end="", flush=True)
                elif now - shown_at > HEARTBEAT_S:
                    print(f"  {step}: {truncated(last)}", flush=True)
                    shown_at = now
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
    clear = "\r\033[K" if live else ""
    took = time.monotonic() - began
    if process.returncode != 0:
        print(f"{clear}  {step}: failed after {took:.0f} s", flush=True)
        words = "\n".join(tail)
        raise SetUpError(f"{missing}\n{words}\n  the whole output is in {LOG.name}")
    print(f"{clear}  {step}: {took:.0f} s", flush=True)
    return last


def truncated(line: str) -> str:
    return line if len(line) <= 70 else line[:67] + "..."


if __name__ == "__main__":
    sys.exit(main())
