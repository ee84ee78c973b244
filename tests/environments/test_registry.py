"""Protects that environments are found by their names, that a new one is one module, and that an unknown one raises."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.conductor import conduct
from harness.environments import UnknownEnvironment, environment, environment_names, register
from harness.environments.registry import ENVIRONMENTS
from harness.environments.sim.environment import SimEnvironment


@pytest.fixture
def orbit() -> Iterator[type]:
    """An environment from outside of the tree."""

    @register("orbit")
    class Orbit(SimEnvironment):
        name = "orbit"

    yield Orbit
    del ENVIRONMENTS["orbit"]


def test_each_environment_knows_its_own_name() -> None:
    assert environment_names() == ("sim", "local")
    for name in environment_names():
        assert environment(name, conduct, lanes=1).name == name


def test_a_new_one_is_found_and_a_second_of_its_name_refused(orbit: type) -> None:
    assert environment_names() == ("sim", "local", "orbit")
    assert isinstance(environment("orbit", conduct), orbit)
    with pytest.raises(ValueError, match="two environments are called orbit"):
        register("orbit")(orbit)


def test_an_unknown_one_raises_and_says_which_there_are() -> None:
    with pytest.raises(UnknownEnvironment, match=r"there is no environment locl; did you mean local\?"):
        environment("locl", conduct)
    with pytest.raises(UnknownEnvironment, match="there is no environment ; one of sim, local"):
        environment("", conduct)


def test_names_are_known_without_importing_an_environment() -> None:
    """`faultlab --help` names them."""
    program = "import sys, harness.environments as e; e.environment_names(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "harness.environments.registry" in done.stdout.split()
    assert not {"harness.environments.sim.environment", "pyroute2"} & set(done.stdout.split())
