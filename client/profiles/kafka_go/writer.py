"""The Writer: messages into batches, batches into Produce requests, and what is tried again.

Source: segmentio/kafka-go v0.4.8, v0.4.9 and v0.4.50 writer.go.

A batch goes on whether or not its callers wait: a caller whose context ends returns, and the messages may be written
later.
"""

from collections.abc import Coroutine, Sequence
from typing import Any

from client.errors import without_traceback
from client.events import TraceKind
from client.golang import Receive, WaitGroup, select, sleep
from client.profiles.kafka_go.balancer import BALANCERS
from client.profiles.kafka_go.batch import Message, WriteBatch, encode_records
from client.profiles.kafka_go.bounded import Bounded, unbounded
from client.profiles.kafka_go.client import Client, Produced
from client.profiles.kafka_go.config import WriterConfig
from client.profiles.kafka_go.conn_group import Address
from client.profiles.kafka_go.errors import GoError, closed_pipe, from_context
from client.profiles.kafka_go.partition_writer import PARTITION_WRITERS, PartitionWriter
from client.profiles.kafka_go.transport import Transport
from client.runtime import ClientRuntime
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

_UNKNOWN_TOPIC_OR_PARTITION = 3


class Writer:
    """Every method may be called by several tasks at once. Methods raise GoError."""

    def __init__(
        self, runtime: ClientRuntime, conf: WriterConfig, transport: Transport, addresses: Sequence[Address]
    ) -> None:
        self.conf = conf
        self._runtime = runtime
        self._transport = transport
        self._addresses = addresses
        self._client = Client(transport, addresses, conf.write_timeout)
        self._balancer = BALANCERS[conf.balancer](runtime.rng)
        self._partition_writers: dict[tuple[str, int], PartitionWriter] = {}
        self._group = WaitGroup()
        self._closed = False

    async def close(self) -> None:
        """Returns once every batch has been written or has failed, and every call has returned."""
        self._closed = True
        writers, self._partition_writers = self._partition_writers, {}
        for writer in writers.values():
            writer.close()
        await self._group.wait()

    async def write_message(self, bounded: Bounded, message: Message) -> None:
        """WriteMessages with one message: returns when its batch has been written, or at once for an Async Writer."""
        if not self._addresses:
            text = "kafka.(*Writer).WriteMessages: cannot create a kafka writer with a nil address"
            raise GoError("errors.errorString", text)
        if self._closed:
            raise closed_pipe()
        self._group.add(1)
        try:
            await self._write_message(bounded, message)
        finally:
            self._group.done()

    async def _write_message(self, bounded: Bounded, message: Message) -> None:
        if message.size(self.conf) > self.conf.batch_bytes:
            raise self.conf.release.errors.message_too_large()
        count = await self._partitions(bounded, message.topic)
        partition = message.partition
        if partition is None:
            partition = self._balancer.balance(message.key, message.value, count)
        key = message.topic, partition
        if key not in self._partition_writers:
            self._partition_writers[key] = PARTITION_WRITERS[self.conf.release.orders_batches](self, key)
        batch = self._partition_writers[key].write_message(message)
        if self.conf.is_async:
            return
        chosen = await select(self._runtime.rng, ended=Receive(bounded.ctx.done), done=Receive(batch.done))
        if chosen.case == "ended":
            assert bounded.ctx.error is not None
            raise from_context(bounded.ctx.error)
        if batch.error is not None:
            raise self.conf.release.errors.write_errors([batch.error])

    async def _partitions(self, bounded: Bounded, topic: str) -> int:
        """How many the topic has by the cached metadata. No time-out but the caller's."""
        request = MetadataRequest(
            topics=(MetadataRequestTopic(name=topic),), allow_auto_topic_creation=self.conf.creates_topics
        )
        response: MetadataResponse = await self._transport.round_trip(bounded, self._addresses, request)
        for found in response.topics:
            if found.name == topic:
                if found.error_code != 0:
                    raise self.conf.release.errors.kerror(found.error_code)
                return len(found.partitions)
        raise self.conf.release.errors.kerror(_UNKNOWN_TOPIC_OR_PARTITION)

    # For its partition writers.

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start work that `close` waits for."""
        self._group.add(1)
        self._runtime.tasks.go(self._counted(work), name)

    async def _counted(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._group.done()

    async def await_batch(self, batch: WriteBatch) -> bool:
        """Wait until it is full (True), or has waited for long enough (False)."""
        wait = self._runtime.tracer.wait(self.conf.batch_timeout, "batch")
        outcome = "failed"
        try:
            chosen = await select(self._runtime.rng, timeout=Receive(batch.timer.channel), full=Receive(batch.ready))
            outcome = "satisfied" if chosen.case == "full" else "elapsed"
            return chosen.case == "full"
        finally:
            batch.timer.stop()
            wait.end(outcome)

    async def write_batch(self, key: tuple[str, int], batch: WriteBatch) -> None:
        """Try to write it as often as is allowed, and tell its callers."""
        produced: Produced | None = None
        error: GoError | None = None
        for attempt in range(self.conf.max_attempts):
            if attempt != 0:
                await self._back_off(attempt)
            produced, error = await self._attempt(attempt + 1, key, batch)
            if error is None or not self._is_retried(error):
                break
        if produced is not None:
            for index, message in enumerate(batch.messages):
                message.written_at = (key[1], produced.base_offset + index)
        self._runtime.tracer.emit(
            TraceKind.STATE, purpose="completion", outcome="written" if error is None else "failed"
        )
        batch.complete(error)

    async def _back_off(self, attempt: int) -> None:
        pause = self.conf.backoff(attempt)
        with self._runtime.tracer.sleeping(pause, "back-off"):
            await sleep(pause.seconds)

    async def _attempt(
        self, number: int, key: tuple[str, int], batch: WriteBatch
    ) -> tuple[Produced | None, GoError | None]:
        """Produce once. The first is what the broker answered, where it did."""
        tracer, broker = self._runtime.tracer, self._transport.leader_of(self._addresses, *key)
        for message in batch.messages:
            tracer.emit(TraceKind.ATTEMPT_STARTED, operation=message.operation, try_number=number, broker=broker)
        produced, error = None, None
        try:
            produced = await self._produce(key, batch)
            error = None if produced is None else produced.error
        except GoError as failed:
            error = without_traceback(failed)
        ended = {"outcome": "ok"} if error is None else {"outcome": "failed", "error": error.text}
        for message in batch.messages:
            tracer.emit(TraceKind.ATTEMPT_ENDED, operation=message.operation, try_number=number, **ended)
        return produced, error

    async def _produce(self, key: tuple[str, int], batch: WriteBatch) -> Produced | None:
        bounded = unbounded().within(self.conf.write_timeout)
        with bounded.ctx:
            records = encode_records(batch.messages, self.conf)
            return await self._client.produce(bounded, *key, acks=self.conf.required_acks, records=records)

    def _is_retried(self, error: GoError) -> bool:
        release, nature = self.conf.release, error.nature
        if nature.temporary and (release.unwraps_temporary or not nature.wrapped):
            return True
        return release.retries_transient_errors and nature.transient
