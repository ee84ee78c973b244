"""Protects the process around a simulation: it looks for garbage as often after a run as before it."""

import gc
from collections.abc import Iterator

import pytest

from harness.environments.sim.garbage import SELDOM, collecting_seldom


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_garbage_is_looked_for_seldom_while_any_simulation_runs() -> None:
    gc.set_threshold(600, 7, 8)
    with collecting_seldom():
        with collecting_seldom():
            assert gc.get_threshold() == (SELDOM, 7, 8)
        assert gc.get_threshold() == (SELDOM, 7, 8)
    assert gc.get_threshold() == (600, 7, 8)


def test_what_is_switched_off_or_rarer_stays_so() -> None:
    for threshold in (0, 2 * SELDOM):
        gc.set_threshold(threshold, 10, 10)
        with collecting_seldom():
            assert gc.get_threshold()[0] == threshold
        assert gc.get_threshold()[0] == threshold
