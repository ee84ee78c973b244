"""Every environment by its name: a package of this one with a module `environment`, in which a class is registered.

    @register("sim")
    class SimEnvironment: ...

The project's own are known by name before they are imported, since each brings much along. Another package adds one
through the entry point `environments` (`client.extensions`).
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeVar

from client.extensions import extension_modules
from harness.environments.world import Conduct, Environment
from harness.suggestions import did_you_mean

AUTO_LANES = 0
"""As many lanes as the machine holds, and starts in time."""
FALLBACK = "sim"
"""Runs on every machine."""
MODULE = "environment"


class EnvironmentFactory(Protocol):
    """Makes an environment that is not entered yet, with at most so many lanes; None takes its usual number, AUTO_LANES
    what the machine makes of it."""

    def __call__(self, conduct: Conduct, *, lanes: int | None = None) -> Environment: ...


Factory = TypeVar("Factory", bound=EnvironmentFactory)

ENVIRONMENTS: dict[str, EnvironmentFactory] = {}
"""Those whose module has been imported."""


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
    """All of them, that which runs everywhere first. Raises ExtensionError."""
    _import_extensions()
    names = _packaged_names() | set(ENVIRONMENTS)
    return tuple(sorted(names, key=lambda name: (name != FALLBACK, name)))


def environment(name: str, conduct: Conduct, *, lanes: int | None = None) -> Environment:
    """The environment of that name, to be entered. Raises UnknownEnvironment, ExtensionError."""
    if name in _packaged_names():
        import_module(f"{__package__}.{name}.{MODULE}")
    elif name not in ENVIRONMENTS:
        _import_extensions()
    factory = ENVIRONMENTS.get(name)
    if factory is None:
        raise UnknownEnvironment(name)
    return factory(conduct, lanes=lanes)


@cache
def _import_extensions() -> None:
    for _ in extension_modules("environments"):
        pass


@cache
def _packaged_names() -> frozenset[str]:
    return frozenset(module.parent.name for module in Path(__file__).parent.glob(f"*/{MODULE}.py"))
