"""Protects faults that recur and starts that are drawn: when, how often, and the same for the same seed."""

from dataclasses import replace
from typing import Any

import pytest

from harness.plan import PlannedHealing, PlannedOperation, Recurrence, StartCondition
from harness.story import Story

S = 1_000_000_000
CONNECT = PlannedOperation(operation="connect", alias="c")


def times(story: Story) -> list[tuple[str, float, float]]:
    """Of each occurrence: its alias, and when it was in force in seconds after the first."""
    first_ns = story.faults[0].began_ns
    return [
        (fault.alias, (fault.began_ns - first_ns) / S, ((fault.healed_ns or 0) - first_ns) / S)
        for fault in story.faults
    ]


def test_a_fault_recurs_so_often_and_each_occurrence_heals_by_itself(sim: Any) -> None:
    flapping = replace(sim.blackhole(), for_s=0.4, recurs=Recurrence(every_s=1.0, times=3))
    story = sim.run(sim.plan(flapping, PlannedOperation(operation="connect", alias="c"), wait(3.0)))
    assert story.error is None
    assert times(story) == [("outage", 0.0, 0.4), ("outage#2", 1.0, 1.4), ("outage#3", 2.0, 2.4)]


def test_an_occurrence_that_is_still_in_force_is_healed_before_the_next(sim: Any) -> None:
    story = sim.run(sim.plan(replace(sim.blackhole(), recurs=Recurrence(every_s=1.0, times=2)), CONNECT, wait(1.5)))
    assert [alias for alias, _, _ in times(story)] == ["outage", "outage#2"]
    assert times(story)[0][2] == 1.0


def test_a_healing_step_ends_the_recurring(sim: Any) -> None:
    flapping = replace(sim.blackhole(), for_s=0.4, recurs=Recurrence(every_s=1.0, times=9))
    heal = PlannedHealing(alias="outage", when=StartCondition(alias="outage", after_s=1.2))
    story = sim.run(sim.plan(flapping, heal, CONNECT, wait(6.0)))
    assert times(story) == [("outage", 0.0, 0.4), ("outage#2", 1.0, 1.2)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_spread_start_is_drawn_from_the_seed(sim: Any, seed: int) -> None:
    late = replace(CONNECT, when=StartCondition(after_s=1.0, spread_s=2.0))
    plan = sim.plan(replace(late, alias="first"))
    (start, again), (other,) = (
        [sim.run(replace(plan, seed=number)).operations[-1].started_ns / S for number in numbers]
        for numbers in ((seed, seed), (seed + 10,))
    )
    assert start == again != other
    assert all(1.0 <= at_s <= 3.1 for at_s in (start, other))


def wait(at_s: float) -> PlannedOperation:
    """Something that keeps the run going until so long after the fault's injection."""
    return PlannedOperation(operation="send", alias="last", when=StartCondition(alias="outage", after_s=at_s))
