"""Protects the order of goroutines where it decides an outcome: shares as the real library's, measured on real sockets.

The real shares are of ten to sixty runs each with Sarama 1.27.2 and 1.60.1 and Go 1.26.8; who ran goroutines in the
order of their wake-ups would see the first outcome never.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.judging import judge
from harness.language import load, plans
from harness.records.run import OperationRecord
from harness.suite.recording import run_record

FOLDER = Path(__file__).parent / "races"
RUNS = 30
TOLERANCE = 0.3
"""How far a share may be from the real one: ten real runs say no more."""


class Race(NamedTuple):
    scenario: str
    operation: str
    outcome: Callable[[OperationRecord], bool]
    real: float


def _took_s(one: OperationRecord) -> float:
    return (one.ended_ns - one.started_ns) / 1e9


RACES = (
    Race("refresh-beside-retry", "b0", lambda one: _took_s(one) > 4.2, 0.8),
    Race("refresh-beside-retry", "b1", lambda one: _took_s(one) > 5.45, 0.8),
    Race("two-retries-of-one-broker", "a1", lambda one: one.error_class == "ErrNotConnected", 0.6),
    Race("background-refresh-beside-retry", "b0", lambda one: one.error_class == "ErrNotConnected", 0.9),
)


@pytest.mark.parametrize("race", RACES, ids=lambda race: f"{race.scenario}-{race.operation}")
def test_a_race_ends_as_often_one_way_as_with_the_real_library(race: Race) -> None:
    world = SimEnvironment(conduct)
    seen = []
    for plan in plans(load(FOLDER / f"{race.scenario}.scenario.yaml"), environment="sim", seed=1, repeat=RUNS):
        story = world.run(plan, lambda _words: None, None)
        record = run_record(plan, story, judge(plan, story), started_at="2026-01-01T00:00:00+00:00", duration_s=0.0)
        seen += [race.outcome(one) for one in record.operations if one.alias == race.operation]
    assert len(seen) == RUNS
    assert abs(sum(seen) / RUNS - race.real) <= TOLERANCE
