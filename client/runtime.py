"""What a bundled client is handed: chance, names, connections, a tracer. Time comes from the running loop alone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Protocol

from client.events import Tracer
from client.net.tcp import ConnectFunction, connect
from client.security.credentials import Credentials
from client.tasks import BackgroundTasks


class Resolver(Protocol):
    """Turns a host name into addresses. Raises `client.net.errors.ResolveError`."""

    async def resolve(self, host: str) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ClientRuntime:
    """One subject's surroundings, which every profile is given.

    `connect` opens the streams of every dial. `connections` numbers connections, failed dials included, for the whole
    subject. `tasks` holds whatever the client runs in the background. `ca_pem` and `credentials` are the launch
    record's: whether they are used is the client's settings' to say.
    """

    rng: Random
    resolver: Resolver
    tracer: Tracer
    connect: ConnectFunction = connect
    connections: Iterator[int] = field(default_factory=lambda: count(1))
    tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
    ca_pem: str | None = None
    credentials: Credentials | None = None
