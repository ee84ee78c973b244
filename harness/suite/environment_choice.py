"""Which kind of world a suite runs in: `auto` is local where this machine can do it, else sim, and says why."""

from typing import Literal

from harness.conductor import conduct
from harness.environments.world import Environment, EnvironmentUnavailable

Choice = Literal["auto", "sim", "local"]
CHOICES: tuple[Choice, ...] = ("auto", "sim", "local")


def make(name: Literal["sim", "local"], *, cells: int | None = None) -> Environment:
    """The environment of that name, not opened, with so many cells at most where its number is a choice."""
    if name == "sim":
        from harness.environments.sim.environment import SimEnvironment  # here, since each brings much along

        return SimEnvironment(conduct)
    from harness.environments.local.environment import LocalEnvironment

    return LocalEnvironment(conduct, lanes=cells)


def choose(choice: Choice, *, cells: int | None = None) -> tuple[Environment, EnvironmentUnavailable | None]:
    """The environment, opened; and, where `auto` had to do without local, why.

    Raises EnvironmentUnavailable where the one asked for by name cannot be had.
    """
    if choice != "auto":
        environment = make(choice, cells=cells)
        environment.open()
        return environment, None
    environment = make("local", cells=cells)
    try:
        environment.open()
    except EnvironmentUnavailable as refused:
        environment = make("sim")
        environment.open()
        return environment, refused
    return environment, None
