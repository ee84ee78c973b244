"""What the program around Sarama needs of a producer: each kind carries it out its own way."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from client.operations import Send
from client.runtime import ClientRuntime
from client.settings import Settings


class RecordMetadata(NamedTuple):
    """Where the message is in the log."""

    partition: int
    offset: int


class Producer(Protocol):
    """A constructed producer. Every method raises `client.errors.ClientError` with Sarama's error."""

    async def send(self, operation: str, message: Send) -> RecordMetadata:
        """Returns when the message's fate is known. `operation` is the call's id in the trace."""
        ...

    async def close(self) -> None: ...


NewProducer = Callable[[ClientRuntime, Settings, Sequence[tuple[str, int]]], Awaitable[Producer]]
"""Constructs a producer from bootstrap addresses, for as long as Sarama's constructor blocks. Raises ClientError."""
