"""Which environment a suite runs in: `auto` is local where this machine can run it, else sim, and says why."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from harness.conductor import conduct
from harness.environments import environment, environment_names
from harness.environments.registry import FALLBACK
from harness.environments.world import Environment, EnvironmentUnavailable

AUTO = "auto"
PREFERRED = "local"
"""What `auto` tries first."""
CHOICES: tuple[str, ...] = (AUTO, *environment_names())


def make(name: str, *, cells: int | None = None) -> Environment:
    """The environment of that name, to be entered, with at most so many cells. Raises UnknownEnvironment."""
    return environment(name, conduct, lanes=cells)


@contextmanager
def opened(choice: str, *, cells: int | None = None) -> Iterator[tuple[Environment, EnvironmentUnavailable | None]]:
    """The environment, entered; and, where `auto` had to do without the preferred one, why.

    Raises UnknownEnvironment, and EnvironmentUnavailable where the one asked for by name cannot be had.
    """
    with ExitStack() as stack:
        if choice != AUTO:
            yield stack.enter_context(make(choice, cells=cells)), None
            return
        refused = None
        try:
            chosen = stack.enter_context(make(PREFERRED, cells=cells))
        except EnvironmentUnavailable as unavailable:
            refused = unavailable
            chosen = stack.enter_context(make(FALLBACK))
        yield chosen, refused
