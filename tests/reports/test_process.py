"""Starting Java: its port and its secret are found, and whatever fails, no process stays."""

import os
import struct
import tempfile
from pathlib import Path

import pytest

from reports.jvm.process import JavaNotStarted, start_java

GATEWAY = """#!/bin/sh
echo $$ > {pid}
printf '{told}' > "$_PYSPARK_DRIVER_CONN_INFO_PATH"
exec sleep 60
"""
TOLD = "".join(f"\\{byte:03o}" for byte in struct.pack(">ii", 4711, 6) + b"secret")


def spark(home: Path, script: str) -> Path:
    launcher = home / "bin" / "spark-submit"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(script.format(pid=home / "pid", told=TOLD))
    launcher.chmod(0o755)
    return home


def pid_in(home: Path) -> int:
    return int((home / "pid").read_text())


def test_port_and_secret_are_those_of_the_process_that_was_started(tmp_path: Path) -> None:
    home = spark(tmp_path, GATEWAY)
    with tempfile.TemporaryFile("w+b") as log:
        java = start_java(home, {}, os.environ, log)
        try:
            assert (java.port, java.secret) == (4711, "secret")
            assert pid_in(home) == java.pid
        finally:
            java.kill()


def test_an_interruption_meanwhile_leaves_no_process(tmp_path: Path) -> None:
    home = spark(tmp_path, "#!/bin/sh\necho $$ > {pid}\nkill -INT $PPID\nexec sleep 60\n")
    with tempfile.TemporaryFile("w+b") as log, pytest.raises(KeyboardInterrupt):
        start_java(home, {}, os.environ, log)
    with pytest.raises(ProcessLookupError):
        os.kill(pid_in(home), 0)


def test_a_java_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    home = spark(tmp_path, "#!/bin/sh\nexit 3\n")
    with tempfile.TemporaryFile("w+b") as log, pytest.raises(JavaNotStarted, match="status 3"):
        start_java(home, {}, os.environ, log)
