"""The Java process of a report: started so that it cannot outlive us, whatever happens to us.

PySpark's own launcher starts Java too, but that one learns of its parent's death from its standard input, and takes its
time to shut down: seconds, on a busy machine. This one gets the kernel's parent-death signal. PySpark then
connects to this gateway instead of starting one.
Source: apache/spark python/pyspark/java_gateway.py (PYSPARK_GATEWAY_PORT).
"""

import contextlib
import ctypes
import os
import signal
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import IO

from harness.interruption import interruption_held_back

PR_SET_PDEATHSIG = 1
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 600.0
"""A Java that writes its class archive when it exits takes two minutes of this on a machine that is busy."""
POLL_INTERVAL_S = 0.02


class JavaNotStarted(Exception):
    """Java ended, or stayed silent, before it offered a gateway."""


class JavaProcess:
    """Spark's Java, with the port and the secret of its gateway. `end` or `kill` it."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, secret: str) -> None:
        self._process = process
        self.port = port
        self.secret = secret

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_mapped(self, file: Path) -> bool:
        """Whether the process uses the file as memory, as it does with a class archive that it accepted."""
        return str(file.resolve()) in Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8", errors="replace")

    def end(self) -> None:
        """Let it exit by itself, which it does when its input ends; kill it where it does not."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        finally:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def start_java(
    home: Path,
    settings: Mapping[str, str],
    environ: Mapping[str, str],
    log: IO[bytes],
) -> JavaProcess:
    """Start Spark's gateway from `home`, Spark's folder; `log` takes what Java prints. Raises JavaNotStarted."""
    command = [str(home / "bin" / "spark-submit")]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    with tempfile.TemporaryDirectory() as folder:
        gateway_file = Path(folder) / "gateway"
        process = None
        try:
            with interruption_held_back():
                process = subprocess.Popen(
                    [*command, "pyspark-shell"],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    env={**environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(gateway_file)},
                    preexec_fn=die_with_parent(),
                )
            port, secret = wait_for_gateway(process, gateway_file)
        except BaseException:
            if process is not None:
                process.kill()
                process.wait()
            raise
    return JavaProcess(process, port, secret)


def die_with_parent() -> "DieWithParent":
    return DieWithParent(ctypes.CDLL(None, use_errno=True), os.getpid())


class DieWithParent:
    """Runs in the child, between fork and exec: the library is loaded before."""

    def __init__(self, library: ctypes.CDLL, parent: int) -> None:
        self._library = library
        self._parent = parent

    def __call__(self) -> None:
        self._library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._parent:  # it died before the signal was asked for
            os._exit(1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is ours to answer


def wait_for_gateway(process: "subprocess.Popen[bytes]", gateway_file: Path) -> tuple[int, str]:
    """Port and secret, which Java writes to a file (under another name first) when it is ready."""
    until_s = monotonic() + START_TIMEOUT_S
    while not gateway_file.is_file():
        if process.poll() is not None:
            raise JavaNotStarted(f"it ended with status {process.returncode}")
        if monotonic() > until_s:
            raise JavaNotStarted(f"it said nothing for {START_TIMEOUT_S:.0f} s")
        sleep(POLL_INTERVAL_S)
    data = gateway_file.read_bytes()
    port, length = struct.unpack(">ii", data[:8])
    return port, data[8 : 8 + length].decode()
