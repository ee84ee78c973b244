"""What a bundled client may know of the world: its loop's clock, a seeded source of chance, names, a tracer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Protocol

from client.events import Tracer
from client.tasks import BackgroundTasks


class Resolver(Protocol):
    """Turns a host name into addresses. Raises `client.net.errors.ResolveError`."""

    async def resolve(self, host: str) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ClientRuntime:
    """Handed to every profile. Time comes from `asyncio.get_running_loop().time()` alone.

    `connections` numbers connections, dials that fail included, once for the whole subject. `tasks` holds
    whatever the client runs in the background.
    """

    rng: Random
    resolver: Resolver
    tracer: Tracer
    connections: Iterator[int] = field(default_factory=lambda: count(1))
    tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
