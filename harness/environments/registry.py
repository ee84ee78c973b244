"""Every environment by its name: a package of this one with a module `environment`, in which a class is registered.

    @register("sim")
    class SimEnvironment: ...

Names are known without importing anything: an environment brings much along, and is imported when it is asked for.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeVar

from harness.environments.world import Conduct, Environment
from harness.suggestions import did_you_mean

FALLBACK = "sim"
"""Runs on every machine."""
MODULE = "environment"


class EnvironmentFactory(Protocol):
    """Makes an environment that is not entered yet, with at most so many lanes; None leaves that to the machine."""

    def __call__(self, conduct: Conduct, *, lanes: int | None = None) -> Environment: ...


Factory = TypeVar("Factory", bound=EnvironmentFactory)

ENVIRONMENTS: dict[str, EnvironmentFactory] = {}
"""Those whose module was imported."""


class UnknownEnvironment(LookupError):
    """There is no environment of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no environment {name}; {did_you_mean(name, environment_names())}")


def register(name: str) -> Callable[[Factory], Factory]:
    """Register an environment. Raises ValueError where the name is taken."""

    def registered(factory: Factory) -> Factory:
        if name in ENVIRONMENTS:
            raise ValueError(f"two environments are called {name}")
        ENVIRONMENTS[name] = factory
        return factory

    return registered


def environment_names() -> tuple[str, ...]:
    """All of them, that which runs everywhere first."""
    names = _packaged_names() | set(ENVIRONMENTS)
    return tuple(sorted(names, key=lambda name: (name != FALLBACK, name)))


def environment(name: str, conduct: Conduct, *, lanes: int | None = None) -> Environment:
    """The environment of that name, to be entered. Raises UnknownEnvironment."""
    if name not in ENVIRONMENTS and name in _packaged_names():
        import_module(f"{__package__}.{name}.{MODULE}")
    factory = ENVIRONMENTS.get(name)
    if factory is None:
        raise UnknownEnvironment(name)
    return factory(conduct, lanes=lanes)


@cache
def _packaged_names() -> frozenset[str]:
    return frozenset(module.parent.name for module in Path(__file__).parent.glob(f"*/{MODULE}.py"))
