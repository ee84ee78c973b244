"""Protects the exec driver in a real cell: a program of the user's, timed by the arrival of its lines."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.conductor import conduct
from harness.environments.local.environment import LocalEnvironment
from harness.environments.world import EnvironmentUnavailable
from harness.plan import PlannedOperation, RunPlan, Step
from harness.story import EventKind, Outcome, Story

SLEEPER = Path(__file__).parents[2] / "bench" / "subjects" / "sleeper.py"

pytestmark = pytest.mark.cell


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEnvironment]:
    with ExitStack() as stack:
        try:
            environment = stack.enter_context(LocalEnvironment(conduct, lanes=1))
        except EnvironmentUnavailable as refused:
            pytest.skip(str(refused))
        yield environment


def run(local: LocalEnvironment, plan: RunPlan, argv: tuple[str, ...], *steps: Step, logs: Path | None = None) -> Story:
    return local.run(replace(plan, client=replace(plan.client, argv=argv), steps=steps), lambda _: None, logs)


def test_a_sleeper_is_measured_as_it_measures_itself(local: LocalEnvironment, talk: Callable[[str], Any]) -> None:
    sends = tuple(PlannedOperation(operation="send", alias=f"s{i}", expect="ok") for i in range(5))
    close = PlannedOperation(operation="close", alias="end", expect="ok")
    story = run(local, talk("").plan, (sys.executable, "-S", str(SLEEPER)), *sends, close)
    assert story.error is None
    own_ns = [int(str(h.fields["text"])) for h in story.events if h.fields.get("purpose") == "slept"]
    assert len(own_ns) == 5
    # The lab is late by what its own timers show, twice a send; 20 ms is for the scheduler of a busy machine.
    room_ns = (2 * story.noise.loop_lag_max_s + 0.02) * 1e9
    for operation, slept_ns in zip(story.operations, own_ns, strict=False):
        assert (operation.outcome, operation.stamped) == (Outcome.OK, "harness")
        assert abs(operation.ended_ns - operation.started_ns - slept_ns) <= room_ns
    assert [h.source for h in story.events if h.kind == EventKind.STAMPS_REFUSED] == ["subject"]


def test_a_subject_that_dies_leaves_its_code_and_its_log(
    local: LocalEnvironment, talk: Callable[[str], Any], tmp_path: Path
) -> None:
    made = talk(
        'ready(); print("I am done", file=sys.stderr); c = command(); say(ev="started", id=c["id"]); os._exit(7)'
    )
    story = run(
        local, made.plan, made.plan.client.argv, PlannedOperation(operation="send", alias="probe"), logs=tmp_path
    )
    assert story.error is not None
    assert (story.error.code, story.error.blame) == ("subject-died", "subject")
    assert "exit code 7 while `probe` was under way" in story.error.text
    log = Path(story.error.text.rpartition("its log: ")[2])
    assert log.parent == tmp_path
    assert "I am done" in log.read_text()
    assert [operation.outcome for operation in story.operations] == [Outcome.CENSORED]


def test_a_subject_shares_the_labs_clock_across_the_cells_border(
    local: LocalEnvironment, talk: Callable[[str], Any]
) -> None:
    made = talk("""
        ready()
        c = command()
        say(ev="started", id=c["id"], at_ns=now())
        say(ev="ok", id=c["id"], at_ns=now())
        command()
    """)
    story = run(local, made.plan, made.plan.client.argv, PlannedOperation(operation="send", alias="probe"))
    assert story.error is None
    assert [operation.stamped for operation in story.operations] == ["subject"]


def test_a_program_that_is_missing_is_named(local: LocalEnvironment, talk: Callable[[str], Any]) -> None:
    missing = f"{os.sep}nonexistent{os.sep}mine"
    story = run(local, talk("").plan, (missing,), PlannedOperation(operation="send", alias="probe"))
    assert story.error is not None
    assert story.error.code == "subject-not-started"
    assert missing in story.error.text
