"""Protects compositions of faults: a part of `bench/soak.py`, which draws many more."""

from bench.soak import soak
from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment


def test_no_composition_hangs_leaks_or_is_wrong_about_an_effect() -> None:
    assert soak(range(150), SimEnvironment(conduct), 1) == []
