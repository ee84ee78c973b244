"""Protects scenarios on real sockets below pytest: they pass, the lab's errors are told apart, nothing outlives it."""

import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from project import PYTEST, Project, processes_about, scenario

pytestmark = [pytest.mark.cell, pytest.mark.timeout(150), pytest.mark.ci]

LONG = "{Net.ReadTimeout: 40s, Net.DialTimeout: 1s, Producer.Retry.Max: 0}"


def until(done: Callable[[], bool], *, what: str, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not done():
        assert time.monotonic() < end, f"waited {within_s:g} s for {what}"
        time.sleep(0.05)


def under_way(project: Project) -> bool:
    """Beside pytest, the engine, its command and the process from which cells are forked there is a whole cell."""
    begun = (project.path / "kept" / "pytest-1" / "manifest.json").exists()
    return begun and len(processes_about(project.path)) >= 4 + 3


def begin(project: Project) -> subprocess.Popen[str]:
    project.write("long.scenario.yaml", scenario("long", settings=LONG))
    process = subprocess.Popen(
        [PYTEST, "--faultlab-env=local", "--faultlab-out=kept", "-q"], cwd=project.path, text=True,
        env=project.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    until(lambda: under_way(project), what="the run")
    return process


def test_a_case_passes_and_a_program_that_dies_is_an_error(project: Project) -> None:
    """Both run side by side; a busy machine may be too noisy for the one, which then has to say so."""
    project.write("dark.scenario.yaml", scenario("dark", settings="{Net.ReadTimeout: 500ms, Producer.Retry.Max: 0}"))
    project.write("mine", "#!/bin/sh\necho no >&2\nexit 3\n").chmod(0o755)
    project.write(
        "program.scenario.yaml", scenario("program", client="{driver: {exec: [./mine]}, name: mine}", settings="{}",
        bound="at_most: 1s, within: 50ms"),
    )  # fmt: skip
    done = project.pytest(env="local")
    dark, program = done.cases["dark"], done.cases["program"]
    noisy = dark.outcome == "error" and "noisy" in dark.text
    assert noisy or (dark.outcome, dark.properties["environment"]) == ("passed", "local"), done.out
    assert program.outcome == "error", done.out
    assert program.text.startswith("failed on setup") or program.text.startswith("the client's program failed: ")
    assert "the client's program failed: " in program.text
    assert processes_about(project.path) == []


def test_ctrl_c_ends_the_engine_in_good_order(project: Project) -> None:
    process = begin(project)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out
    assert "KeyboardInterrupt" in out
    assert processes_about(project.path) == []
    folder = project.path / "kept" / "pytest-1"
    assert sorted(path.name for path in folder.iterdir() if path.is_file())[-1] == "runs.jsonl", "kept as it was begun"


def test_nothing_outlives_a_pytest_that_is_killed(project: Project) -> None:
    process = begin(project)
    process.kill()
    process.communicate(timeout=60)
    until(lambda: processes_about(project.path) == [], what="the engine's end", within_s=10)


def test_a_scenario_ends_with_the_test_that_waits_for_it(project: Project) -> None:
    """An exception in the test process (here: a time limit) ends what `lab.run` waits for."""
    project.write("long.scenario.yaml", scenario("long", settings=LONG))
    project.write(
        "test_mine.py",
        """
import signal

class Late(Exception):
    pass

def late(*_):
    raise Late

def test_limited(lab):
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 8)
    try:
        lab.run("long.scenario.yaml", environment="local")
    except Late:
        return
    raise AssertionError("it ended by itself")
""",
    )
    done = project.pytest("test_mine.py", env=None)
    assert done.outcomes == {"test_limited": "passed"}, done.out
    assert processes_about(project.path) == []
