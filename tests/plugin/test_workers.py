"""Protects sessions with xdist: all workers share one engine, and one command that runs every case once."""

import pytest
from project import WRONG, Project, processes_about, runs_in, scenario

pytestmark = pytest.mark.ci

THREE = "{settings.Net.DialTimeout: [1s, 2s, 3s]}"
ENGINES = """
import os
from pathlib import Path

import pytest


def children(pid):
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for one in lists for child in one.read_text().split()]


def is_engine(pid):
    return b"--engine" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("number", range(4))
def test_engines(lab, number):
    assert lab.run("good.scenario.yaml").verdict == "pass"
    assert not any(map(is_engine, children(os.getpid())))
    assert sum(map(is_engine, children(os.getppid()))) == 1
"""


def test_every_case_is_run_once_whichever_worker_asks_for_it(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good", matrix=THREE))
    project.write("wrong.scenario.yaml", scenario("wrong", bound=WRONG))
    done = project.pytest("-n", "2", "--faultlab-out=kept")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    passed = {f"good[Net.DialTimeout={n}s]": "passed" for n in (1, 2, 3)}
    assert done.outcomes == {**passed, "wrong": "failure"}, done.out
    assert "1 missing" in done.cases["wrong"].text
    assert runs_in(project.path / "kept") == {"pytest-1": ["good", "good", "good", "wrong"]}
    assert processes_about(project.path) == []


def test_the_fixture_runs_in_the_same_engine(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good"))
    project.write("test_engines.py", ENGINES)
    done = project.pytest("-n", "2", "test_engines.py")
    assert done.code == 0, done.out
    assert len(done.outcomes) == 4


def test_mistakes_reach_every_worker(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good"))
    project.write("bad.scenario.yaml", scenario("bad", settings="{Net.DialTimeoutt: 1s}"))
    done = project.pytest("-n", "2", "--continue-on-collection-errors")
    assert done.outcomes == {"bad.scenario.yaml": "error", "good": "passed"}, done.out
    assert "did you mean Net.DialTimeout?" in done.cases["bad.scenario.yaml"].text


def test_the_cases_of_a_worker_that_dies_are_run_all_the_same(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good", matrix=THREE))
    project.write("test_a.py", "import os\n\n\ndef test_dies(lab):\n    os._exit(1)\n")
    done = project.pytest("-n", "2", "--faultlab-out=kept", "test_a.py", "good.scenario.yaml")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.out
    assert {name for name, outcome in done.outcomes.items() if outcome == "passed"} == {
        f"good[Net.DialTimeout={n}s]" for n in (1, 2, 3)
    }, done.out
    assert "crashed while running" in done.out
    assert runs_in(project.path / "kept") == {"pytest-1": ["good"] * 3}
    assert processes_about(project.path) == []
