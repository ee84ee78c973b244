"""What every profile offers: its releases, its settings, and a producer with the real client's timing."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from client.errors import SettingError
from client.runtime import ClientRuntime
from client.settings import Conflict, Settings, SettingsTable


@dataclass(frozen=True, slots=True)
class RecordMetadata:
    """Where the message stands in the log."""

    partition: int
    offset: int


class Producer(Protocol):
    """A constructed producer. Every method raises `client.errors.ClientError` with the upstream error."""

    async def send(
        self, operation: str, topic: str, partition: int | None, key: bytes | None, value: bytes
    ) -> RecordMetadata:
        """Returns when the real client's blocking send would. `operation` names it in the trace."""
        ...

    async def close(self) -> None: ...


ProducerFactory = Callable[[ClientRuntime, Settings, Sequence[tuple[str, int]]], Awaitable[Producer]]
"""Constructs a producer from surroundings, settings and bootstrap addresses, for as long as the real constructor
blocks. Raises ClientError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One real client. `releases` are the versions that it reproduces, oldest first; others are refused.

    `connect` makes its usual producer; `producers` are all of them by the name that a scenario may give
    (`client.producer`), none where there is only one. `functions` are names that formulas may call with this profile's
    settings in scope. `conflicts` tells of settings that the real client refuses together, though each is right by
    itself. `prepare` loads whatever would else be loaded on first use, so that no operation is slowed by it:
    called before `ready`, free the second time.
    """

    name: str
    about: str
    releases: tuple[str, ...]
    settings: SettingsTable
    connect: ProducerFactory
    producers: Mapping[str, ProducerFactory] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., float]] = field(default_factory=dict)
    conflicts: Callable[[Settings], Sequence[Conflict]] = lambda _settings: ()
    prepare: Callable[[], None] = lambda: None

    def producer_factory(self, producer: str | None) -> ProducerFactory:
        """The producer of that name, None: the usual one. Raises SettingError for a name that there is not."""
        if producer is None:
            return self.connect
        if producer not in self.producers:
            known = ", ".join(self.producers) or "one, which has no name"
            raise SettingError("producer", f"{self.name} has no producer {producer}, only {known}")
        return self.producers[producer]
