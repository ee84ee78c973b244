"""Protects compositions of faults: a part of `bench/soak.py`, which draws many more."""

import logging

import pytest

from bench.soak import soak
from harness.conductor import conduct
from harness.environments.local.environment import LocalEnvironment
from harness.environments.sim.environment import SimEnvironment

pytestmark = pytest.mark.ci


def test_no_composition_hangs_leaks_or_is_wrong_about_an_effect(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)  # a record that pytest keeps holds an error, its frames, and their sockets
    assert soak(range(1000), SimEnvironment(conduct), 1) == []


@pytest.mark.cell
def test_no_composition_hangs_leaks_or_ends_otherwise_on_real_sockets(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    assert soak(range(24), LocalEnvironment(conduct, lanes=3), 3) == []
