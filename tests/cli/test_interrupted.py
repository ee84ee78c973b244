"""Protects what was measured against every way of ending early: SIGKILL at any moment, Ctrl-C, a closed terminal.

Whatever happens, no process is left, the folder reads back, and resuming gives the same runs, each counted once.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import COMMAND, environment, faultlab, write_scenario

from harness.records.reader import read, read_events

GONE_WITHIN_S = 2.0
MARK = "FAULTLAB_TEST_MARK"
pytestmark = [pytest.mark.cell, pytest.mark.ci]


def quick_scenario(folder: Path, *, runs: int, name: str = "dark", timeout: str = "300ms") -> Path:
    """Runs of some tenths of a second, with a tolerance that no noise of a busy machine comes near."""
    path = write_scenario(folder, name, repeat=runs)
    text = (
        path.read_text().replace("1% + 50ms", "1% + 5s").replace("Net.ReadTimeout: 2s", f"Net.ReadTimeout: {timeout}")
    )
    path.write_text(re.sub(r"  - .*claim:.*\n", "", text))
    return path


@contextmanager
def begun(*arguments: str, cwd: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The command in a session of its own, and the mark that all its processes carry; ended in any case."""
    mark = uuid.uuid4().hex
    temporary = cwd / "temporary"
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=cwd, env=environment(**{MARK: mark, "TMPDIR": str(temporary)}), text=True,
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process, mark
    finally:
        process.kill()
        process.communicate()


def marked(mark: str) -> list[int]:
    """Processes that carry the mark, in whatever namespace they are."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue  # it ended meanwhile
    return found


def command_line(pid: int) -> bytes:
    """Empty for a process that ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def until(condition: Callable[[], bool], *, within_s: float, what: str) -> None:
    """Wait for a condition that is bound to come."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, f"{what} took above {within_s} s"
        time.sleep(0.01)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments_nothing_is_left_or_lost(kills: int, tmp_path: Path) -> None:
    chance = random.Random(kills)
    quick_scenario(tmp_path, runs=12)
    suites = 0
    while kills > 0:
        suites += 1
        folder = f"r{suites}"
        kept: dict[str, str] = {}
        while kills > 0:
            resume = (tmp_path / folder / "manifest.json").exists()
            asked = ("--resume", folder) if resume else (".", "--env", "local", "--out", folder)
            with begun("run", *asked, cwd=tmp_path) as (process, mark):
                try:
                    process.wait(chance.uniform(0.3, 5.0))
                    break  # it was quicker: the next kill meets another suite
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    kills -= 1
                until(lambda m=mark: not marked(m), within_s=GONE_WITHIN_S, what="the end of all its processes")
            if (tmp_path / folder / "manifest.json").exists():
                kept = checked(tmp_path / folder, kept)
        if not (tmp_path / folder / "manifest.json").exists():
            continue
        done = faultlab("run", "--resume", folder, cwd=tmp_path)
        assert done.code == 0, done.out + done.err
        results = read(tmp_path / folder)
        assert results.quarantined == ()
        assert [run.run_id for run in results.runs] == list(results.manifest.run_ids)
        assert {run.verdict for run in results.runs} == {"pass"}
        assert kept.items() <= {run.run_id: run.started_at for run in results.runs}.items(), "nothing is run twice"
        counted = {(event.run_id, event.attempt) for event in read_events(results, [])}
        assert counted == {(run.run_id, run.attempt) for run in results.tries}
    assert list((tmp_path / "temporary").iterdir()) == []


def checked(folder: Path, kept: dict[str, str]) -> dict[str, str]:
    """The folder reads back, with at most one cut line a file, and still has what it had."""
    results, spoilt = read(folder), []
    list(read_events(results, spoilt))
    assert all(line.cut for line in (*results.quarantined, *spoilt))
    assert len(results.quarantined) <= 1
    assert len(spoilt) <= 1
    now = {run.run_id: run.started_at for run in results.runs}
    assert kept.items() <= now.items()
    return now


def test_an_interruption_before_the_command_has_begun_is_one_line(tmp_path: Path) -> None:
    """In the middle of the imports: `click` is the first of them here that comes from outside."""
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    path = f"{tmp_path}:{Path(__file__).parents[2]}"
    done = subprocess.run(
        [sys.executable, "-m", "cli", "list"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_an_interrupted_suite_says_how_to_go_on(how: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group, as a terminal's does: faultlab ends its cells, they do not end by themselves."""
    quick_scenario(tmp_path, runs=3)
    quick_scenario(tmp_path, runs=8, name="long", timeout="25s")
    with begun("run", ".", "--env", "local", "--out", "r", "--cells", "4", cwd=tmp_path) as (process, mark):
        until(lambda: (tmp_path / "r" / "manifest.json").exists(), within_s=30, what="the beginning")
        until(lambda: len(marked(mark)) >= 8, within_s=30, what="the first cells")
        os.killpg(process.pid, how)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 130, out + err
        assert marked(mark) == []
    assert "Traceback" not in out + err
    assert "stopping: " in out
    results = read(tmp_path / "r")
    told = out.splitlines()
    assert told[-3].startswith("INTERRUPTED  ")
    assert told[-2] == f"kept    {len(results.runs)} of 11 runs in r"
    assert re.fullmatch(r"resume  faultlab run --resume r +exit 130", told[-1])
    assert len(results.missing) >= 4


def test_toxiproxy_killed_in_the_middle_is_the_lab_s_failure(tmp_path: Path) -> None:
    quick_scenario(tmp_path, runs=1, timeout="20s")
    with begun("run", ".", "--env", "local", "--out", "r", cwd=tmp_path) as (process, mark):

        def proxies() -> list[int]:
            """Servers, not the short life of one that is asked for its version first."""
            lines = {pid: command_line(pid) for pid in marked(mark)}
            return [pid for pid, line in lines.items() if b"toxiproxy" in line and b"-port" in line]

        until(lambda: bool(proxies()), within_s=30, what="Toxiproxy's start")
        time.sleep(1.0)  # somewhere in the run's 20 s: the exact moment does not matter
        os.kill(proxies()[0], signal.SIGKILL)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 3, out + err
    assert "LAB ERROR  dark  sarama 1.27.2  dark.scenario.yaml" in out
    assert "oxiproxy" in out
    assert re.search(r"^  replay     faultlab replay \w+ --in r$", out, flags=re.MULTILINE)
    assert out.splitlines()[-1].endswith("exit 3")
    (run,) = read(tmp_path / "r").runs
    assert run.verdict == "lab_error"
    assert run.error is not None


def test_a_gate_that_is_interrupted_while_it_runs_compares_nothing(tmp_path: Path) -> None:
    """Half a suite is no reason for an alarm; how to go on with it is said."""
    quick_scenario(tmp_path / "s", runs=6)
    assert faultlab("run", "s", "--env", "local", "--out", "was", cwd=tmp_path).code == 0
    quick_scenario(tmp_path / "s", runs=6, timeout="25s")
    with begun("gate", "--run", "--baseline", "was", "--out", "now", "--ci", cwd=tmp_path) as (process, mark):
        until(lambda: len(marked(mark)) >= 6, within_s=30, what="the first cells")
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 130, out + err
        assert marked(mark) == []
    assert "Traceback" not in out + err
    assert "resume  faultlab run --resume now" in out
    assert "compared" not in out
