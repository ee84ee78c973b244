"""Messages, and the batches of one partition that they are written in.

Source: segmentio/kafka-go v0.4.8 writer.go (writeBatch, writerRecords), message.go (size).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from client.golang import Channel, Timer
from client.profiles.kafka_go.config import WriterConfig
from client.profiles.kafka_go.errors import GoError
from client.wire.records import Record, encode_batch

_FIXED_BYTES = 4 + 1 + 1 + 4 + 4 + 8
"""Checksum, magic, attributes, the lengths of key and value, time."""


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """`operation` is the call's id. `partition` is the one that the program named; `written_at` partition and offset
    once a broker has confirmed it."""

    operation: str
    topic: str
    key: bytes | None
    value: bytes
    partition: int | None
    written_at: tuple[int, int] | None = None

    def size(self, conf: WriterConfig) -> int:
        """Bytes as BatchBytes counts them."""
        return _FIXED_BYTES + len(self.key or b"") + len(self.value) + conf.release.counts_headers


class WriteBatch:
    """`ready` is closed when it is full, `done` when its fate is known; `error` is then why it failed."""

    def __init__(self, timeout_s: float) -> None:
        self.messages: list[Message] = []
        self.ready: Channel[None] = Channel()
        self.done: Channel[None] = Channel()
        self.timer = Timer(timeout_s)
        self.error: GoError | None = None
        self._bytes = 0

    def add(self, message: Message, conf: WriterConfig) -> bool:
        """False where it does not fit."""
        size = message.size(conf)
        if self.messages and self._bytes + size > conf.batch_bytes:
            return False
        self.messages.append(message)
        self._bytes += size
        return True

    def full(self, conf: WriterConfig) -> bool:
        return len(self.messages) >= conf.batch_size or self._bytes >= conf.batch_bytes

    def trigger(self) -> None:
        """It takes no more messages: write it now."""
        self.ready.close()

    def complete(self, error: GoError | None) -> None:
        self.error = error
        self.done.close()


def encode_records(messages: Sequence[Message], conf: WriterConfig) -> bytes:
    """The batch as it is sent, stamped now: a retry has another time. Stamped with the loop's clock, as in a cell and
    in the simulation there is no other."""
    records = [Record(offset_delta=index, key=one.key, value=one.value) for index, one in enumerate(messages)]
    now_ms = int(asyncio.get_running_loop().time() * 1000)
    return encode_batch(records, base_timestamp_ms=now_ms, compressor=conf.compressor)
