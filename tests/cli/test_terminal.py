"""Protects the moving part: on a terminal a bar and a row for each run under way, and nothing of it left behind."""

import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest
from command_line import COMMAND, environment, write_scenario
from rich.cells import cell_len
from rich.console import Console

from cli.show.live import heartbeat
from harness.language import load, plans
from harness.suite.progress import SuiteProgress

LEAD = 32
"""Columns before a text: a single word that has no room beside them, such as a path, is longer than the line."""


def on_terminal(*arguments: str, cwd: Path, columns: int, limit_s: float = 90.0) -> tuple[int, str]:
    """Run the command on a terminal of its own: exit code, and everything that was written to it."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(TERM="xterm-256color"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen, end = b"", time.monotonic() + limit_s
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # Linux says so when the other side is closed
                    break
                seen += part
        return process.wait(10), seen.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.cell
def test_live_rows_name_what_each_run_does_and_vanish(tmp_path: Path) -> None:
    write_scenario(tmp_path, repeat=3)
    code, text = on_terminal("run", ".", "--env", "local", cwd=tmp_path, columns=100)
    assert code == 0, text
    assert "\x1b[?25h" in text, "the cursor is shown again"
    text = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", text)
    assert re.search(r"━+  \d/3   at most \d+\.\d s left", text)
    assert re.search(r"  dark +1\.27\.2 #[123] +waiting: Net\.ReadTimeout +━+ +\d\.\d of 2\.0 s", text)
    last = text.rstrip().splitlines()[-1]
    assert last.endswith("exit 0")


@pytest.mark.parametrize(("columns", "in_one_line"), [(160, True), (80, False)])
def test_a_wide_terminal_has_a_line_for_each_case(tmp_path: Path, columns: int, in_one_line: bool) -> None:
    name = "a-name-that-leaves-no-room-for-parameters-in-80-columns"
    write_scenario(tmp_path, name, retries="[0, 1]", formula="Net.DialTimeout")
    code, text = on_terminal("run", ".", "--env", "sim", cwd=tmp_path, columns=columns)
    assert code == 1, text
    lines = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", text).replace("\r", "\n").splitlines()
    assert max(map(cell_len, lines)) <= columns
    row = re.compile(rf"FAIL  {name}  sarama 1\.27\.2  Retry\.Max=0 +1\.000 s +2\.000 s +0/1 *$")
    assert any(row.match(line) for line in lines) == in_one_line
    heads = [line.split() for line in lines if line.lstrip().startswith("scenario  client")]
    assert heads[0] == heads[-1], "while it runs and at the end, the columns are the same"


@pytest.mark.ci
@pytest.mark.parametrize("command", ["list", "doctor"])
def test_a_wide_terminal_is_used_and_not_exceeded(tmp_path: Path, command: str) -> None:
    shown = {}
    for columns in (80, 160):
        _, text = on_terminal(command, cwd=tmp_path, columns=columns)
        shown[columns] = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", text).splitlines()
        too_long = [line for line in shown[columns] if cell_len(line) > columns]
        assert all(max(map(cell_len, line.split())) > columns - LEAD for line in too_long)
    assert len(shown[160]) < len(shown[80])


def test_a_dumb_terminal_has_no_moving_parts(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "run", ".", "--env", "sim"], cwd=tmp_path, env=environment(TERM="dumb"), stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    assert process.wait(60) == 0
    text = os.read(ours, 65536).decode()
    os.close(ours)
    assert "\x1b" not in text
    assert "PASSED" in text


def test_the_heartbeat_names_the_oldest_run_and_what_is_left(tmp_path: Path) -> None:
    made = plans(load(write_scenario(tmp_path, repeat=3)), environment="local", seed=7)
    progress = SuiteProgress(made, lanes=2)
    progress.started(made[0])
    progress.doing(made[0], "dialling broker 2")
    console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(heartbeat(progress.snapshot()))
    first, second = console.export_text().splitlines()
    assert re.fullmatch(r"\.\.\.   0/3 runs   at most \d\.\d s left", first)
    assert re.fullmatch(r"      dark #1: dialling broker 2, \d\.\d of 2\.0 s", second)


def test_no_bound_is_named_once_a_run_takes_longer_than_its_formula(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`at most 0.0 s left` stood there for a minute, until the lab gave up."""
    made = plans(load(write_scenario(tmp_path)), environment="local", seed=7)
    progress = SuiteProgress(made, lanes=2)
    progress.started(made[0])
    progress.doing(made[0], "waiting for an answer")
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    first, second = str(heartbeat(progress.snapshot())).splitlines()
    assert first == "...   0/1 runs"
    assert second.endswith(", overdue")
