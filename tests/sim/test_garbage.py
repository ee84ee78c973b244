"""Protects the process around a simulation: a run leaves it nothing to search, and it searches as often as before."""

import gc
from collections.abc import Iterator

import pytest

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.environments.sim.gc_tuning import RELAXED_THRESHOLD, relaxed_gc
from harness.language import load, plans
from harness.plan import RunPlan
from harness.suite.collection import bundled


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_garbage_is_looked_for_seldom_while_any_simulation_runs() -> None:
    gc.set_threshold(600, 7, 8)
    with relaxed_gc():
        with relaxed_gc():
            assert gc.get_threshold() == (RELAXED_THRESHOLD, 7, 8)
        assert gc.get_threshold() == (RELAXED_THRESHOLD, 7, 8)
    assert gc.get_threshold() == (600, 7, 8)


def test_what_is_switched_off_or_rarer_stays_so() -> None:
    for threshold in (0, 2 * RELAXED_THRESHOLD):
        gc.set_threshold(threshold, 10, 10)
        with relaxed_gc():
            assert gc.get_threshold()[0] == threshold
        assert gc.get_threshold()[0] == threshold


def established_blackholes() -> list[RunPlan]:
    """Those whose message is sent again: the client meets time-outs in reads, dials and refreshes."""
    named = "\nscenario: sarama-blackhole-established\n"
    scenario = load(next(path for path in bundled() if named in path.read_text()))
    return [
        plan
        for plan in plans(scenario, environment="sim", seed=1, repeat=1)
        if next(setting.value for setting in plan.settings if setting.name == "Producer.Retry.Max")
    ]


def unseen(_text: str) -> None:
    """Progress that nobody looks at."""


@pytest.mark.parametrize("plan", established_blackholes(), ids=lambda plan: plan.run_id)
def test_a_run_goes_away_by_itself(plan: RunPlan) -> None:
    sim = SimEnvironment(conduct)
    sim.run(plan, unseen, None)  # what the first one leaves is kept: schemas, formulas
    gc.collect()
    gc.disable()
    try:
        story = sim.run(plan, unseen, None)
        assert story.error is None
        del story
        assert gc.collect() == 0
    finally:
        gc.enable()
