"""What every profile offers: its releases, its settings, and a producer with the real client's timing."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from client.settings import Settings, SettingsTable
from client.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Where the message stands in the log."""

    partition: int
    offset: int


class Producer(Protocol):
    """A constructed producer. Every method raises `client.errors.ClientError` with the upstream error."""

    async def send(
        self, operation: str, topic: str, partition: int | None, key: bytes | None, value: bytes
    ) -> Acknowledged:
        """Returns when the real client's blocking send would. `operation` names it in the trace."""
        ...

    async def close(self) -> None: ...


Connect = Callable[[Surroundings, Settings, Sequence[tuple[str, int]]], Awaitable[Producer]]
"""Constructs a producer from surroundings, settings and bootstrap addresses, for as long as the real constructor
blocks. Raises ClientError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One real client. `releases` are the versions that it reproduces, oldest first; others are refused.

    `functions` are names that formulas may call with this profile's settings in scope. `prepare` loads whatever would
    else be loaded on first use, so that no operation is slowed by it: called before `ready`, free the second time.
    """

    name: str
    about: str
    releases: tuple[str, ...]
    settings: SettingsTable
    connect: Connect
    functions: Mapping[str, Callable[..., float]] = field(default_factory=dict)
    prepare: Callable[[], None] = lambda: None
