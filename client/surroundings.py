"""What a bundled client may know of the world: its loop's clock, a seeded source of chance, names, a tracer."""

from dataclasses import dataclass
from random import Random
from typing import Protocol

from client.events import Tracer


class Resolver(Protocol):
    """Turns a host name into addresses. Raises `client.net.errors.ResolveError`."""

    async def resolve(self, host: str) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Handed to every profile. Time comes from `asyncio.get_running_loop().time()` alone."""

    rng: Random
    resolver: Resolver
    tracer: Tracer
