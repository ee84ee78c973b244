"""The batches of one partition: written side by side up to v0.4.17, one after the other from v0.4.18 on.

Source: segmentio/kafka-go v0.4.8 writer.go (batchMessages, writeBatch); v0.4.50 writer.go (partitionWriter,
batchQueue).
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from client.golang import Channel
from client.profiles.kafka_go.batch import Message, WriteBatch
from client.profiles.kafka_go.config import WriterConfig

Key = tuple[str, int]


class Owner(Protocol):
    """What a partition writer needs of its Writer."""

    @property
    def conf(self) -> WriterConfig: ...

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start work that the Writer's `close` waits for."""
        ...

    async def await_batch(self, batch: WriteBatch) -> bool:
        """Wait until it is full (True), or has waited for long enough (False)."""
        ...

    async def write_batch(self, key: Key, batch: WriteBatch) -> None:
        """Try to write it as often as is allowed, and tell its callers."""
        ...


class PartitionWriter:
    """Each batch has a task that waits until it is full or due, and then writes it."""

    def __init__(self, writer: Owner, key: Key) -> None:
        self._writer = writer
        self._key = key
        self._current: WriteBatch | None = None

    def write_message(self, message: Message) -> WriteBatch:
        """Put it into the current batch, or into a new one where it does not fit; returns the one that has it."""
        conf = self._writer.conf
        batch = self._current or self._new_batch()
        if not batch.add(message, conf):
            self._trigger(batch)
            batch = self._new_batch()
            batch.add(message, conf)
        if batch.full(conf):
            self._trigger(batch)
        return batch

    def close(self) -> None:
        """Write what has been collected."""
        if self._current is not None:
            self._trigger(self._current)

    def _new_batch(self) -> WriteBatch:
        batch = self._current = WriteBatch(self._writer.conf.batch_timeout.seconds)
        self._writer.spawn(self._await_batch(batch), f"writer/{self._key[1]}/batch")
        return batch

    def _trigger(self, batch: WriteBatch) -> None:
        batch.trigger()
        self._current = None

    async def _await_batch(self, batch: WriteBatch) -> None:
        full = await self._writer.await_batch(batch)
        if not full and batch is self._current:
            self._current = None
        await self._writer.write_batch(self._key, batch)


class OrderedPartitionWriter(PartitionWriter):
    """Batches stand in a queue, from which one task writes them."""

    def __init__(self, writer: Owner, key: Key) -> None:
        super().__init__(writer, key)
        self._queue: list[WriteBatch] = []
        self._changed: Channel[None] = Channel(1)
        self._closed = False
        writer.spawn(self._write_batches(), f"writer/{key[1]}")

    def close(self) -> None:
        super().close()
        self._closed = True
        self._changed.try_send(None)

    def _trigger(self, batch: WriteBatch) -> None:
        self._put(batch)
        super()._trigger(batch)

    def _put(self, batch: WriteBatch) -> None:
        self._queue.append(batch)
        self._changed.try_send(None)

    async def _await_batch(self, batch: WriteBatch) -> None:
        full = await self._writer.await_batch(batch)
        if not full and batch is self._current:
            self._put(batch)
            self._current = None

    async def _write_batches(self) -> None:
        while True:
            while self._queue:
                await self._writer.write_batch(self._key, self._queue.pop(0))
            if self._closed:
                return
            await self._changed.receive()


PARTITION_WRITERS: Mapping[bool, Callable[[Owner, Key], PartitionWriter]] = {
    False: PartitionWriter,
    True: OrderedPartitionWriter,
}
"""By whether the release orders batches."""
