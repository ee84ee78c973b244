"""Protects replay: equal seeds give equal events, to the nanosecond, as often as one likes and in any thread."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from simplans import plan

from harness.conductor.conduct import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.faults import FAULTS
from harness.plan import PlannedFault, PlannedOperation, RunPlan
from harness.story import Outcome, Story

REPLAYS = 1000


def blackholed(seed: int = 7, retries: int = 1) -> RunPlan:
    return plan(
        PlannedOperation(operation="connect", alias="connect"),
        PlannedOperation(operation="send", alias="warm_up", expect="acknowledged"),
        PlannedFault(fault=FAULTS["blackhole"](brokers="all"), alias="outage"),
        PlannedOperation(operation="send", alias="probe", give_up_after_s=60.0),
        seed=seed,
        Producer_Retry_Max=retries,
    )


def ignored(text: str) -> None:
    """Progress that nobody looks at."""


def test_a_blackholed_producer_fails_when_the_formula_says() -> None:
    """R=2 s, D=1 s: 2R + 4D + 100 ms + 3*250 ms."""
    story = SimEnvironment(conduct).run(blackholed(), ignored, None)
    probe = story.operations[-1]
    assert probe.outcome is Outcome.FAILED
    assert (probe.ended_ns - probe.started_ns) / 1e9 == pytest.approx(8.85, abs=0.001)
    assert story.faults[0].proven
    assert story.error is None


@pytest.mark.ci
def test_a_thousand_replays_are_identical() -> None:
    sim = SimEnvironment(conduct)
    first = sim.run(blackholed(retries=0), ignored, None)
    assert len(first.events) > 30
    for _ in range(REPLAYS):
        assert sim.run(blackholed(retries=0), ignored, None) == first


def test_replays_in_threads_are_identical() -> None:
    sim = SimEnvironment(conduct)
    first = sim.run(blackholed(), ignored, None)
    with ThreadPoolExecutor(4) as pool:
        stories: list[Story] = list(pool.map(lambda _: sim.run(blackholed(), ignored, None), range(12)))
    assert stories == [first] * 12


def test_another_seed_is_another_run() -> None:
    """Healed after 1.5 s, the request arrives at a retransmission, and where that falls in the timer wheel is the
    seed's."""

    def acknowledged_ns(seed: int) -> int:
        story = SimEnvironment(conduct).run(
            plan(
                PlannedOperation(operation="connect", alias="connect"),
                PlannedOperation(operation="send", alias="warm_up", expect="acknowledged"),
                PlannedFault(fault=FAULTS["blackhole"](brokers="all"), alias="outage", for_s=1.5),
                PlannedOperation(operation="send", alias="probe", give_up_after_s=60.0),
                seed=seed,
            ),
            ignored,
            None,
        )
        assert story.operations[-1].outcome is Outcome.OK
        return story.operations[-1].ended_ns

    seen = {acknowledged_ns(seed) for seed in range(8)}
    assert len(seen) > 4
    assert all(1.63e9 <= at_ns <= 1.75e9 for at_ns in seen)
