"""One a broker: gathers messages into requests and handles their results. How requests go out depends on the release:
one at a time (sequential_producer) or overlapping (pipelined_producer).

Source: Shopify/sarama v1.27.2 async_producer.go, IBM/sarama v1.60.1 async_producer.go (brokerProducer).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from client.errors import ClientError
from client.events import Wait
from client.golang import Channel, after
from client.profiles.sarama.broker import Broker
from client.profiles.sarama.errors import KError, PacketEncodingError
from client.profiles.sarama.kerrors import CODES
from client.profiles.sarama.message import FIN, SYN, ProducerMessage
from client.profiles.sarama.produce_set import PartitionSet, ProduceSet
from client.profiles.sarama.transaction_manager import NO_PRODUCER_ID
from client.wire.apis.produce import PartitionProduceResponse, ProduceResponse

if TYPE_CHECKING:
    from client.profiles.sarama.async_producer import AsyncProducer

_NO_ERROR = CODES["ErrNoError"]
_DUPLICATE = CODES["ErrDuplicateSequenceNumber"]


class BrokerProducerResponse(NamedTuple):
    """The result of a set: an error, or a response (None where none was asked for)."""

    sent: ProduceSet
    err: ClientError | None
    res: ProduceResponse | None


class BrokerProducer(ABC):
    """`input` takes messages, `output` whole sets; `abandoned`, there only without retries, is closed when the
    connection is given up."""

    def __init__(self, parent: "AsyncProducer", broker: Broker) -> None:
        self.input: Channel[ProducerMessage] = Channel()
        self.output: Channel[ProduceSet] = Channel()
        self.abandoned: Channel[None] | None = Channel() if parent.conf.retry_max <= 0 else None
        self._parent = parent
        self._broker = broker
        self._rng = parent.runtime.rng
        self._responses: Channel[BrokerProducerResponse] = Channel()
        self._buffer = parent.new_produce_set()
        self._timer: Channel[float] | None = None
        self._timer_wait: Wait | None = None
        self._timer_fired = False
        self._closing: ClientError | None = None
        self._current_retries: dict[tuple[str, int], ClientError] = {}
        self._retriable = frozenset(CODES[name] for name in parent.conf.release.retriable_kerrors)

    @abstractmethod
    def start(self) -> None:
        """Start its tasks."""

    @abstractmethod
    async def _wait_for_space(self, msg: ProducerMessage, *, force_rollover: bool) -> ClientError | None:
        """Flush until the message fits. Returns why it has to be retried instead, None once there is room."""

    @abstractmethod
    async def _retry_batch(self, batch: PartitionSet, err: ClientError) -> None:
        """Send a whole batch again, to the partition's present leader."""

    @abstractmethod
    async def _retry_after_closing(self, sent: ProduceSet, err: ClientError) -> None:
        """The connection is closed: retry the messages of the request that failed on it, and the waiting ones."""

    @abstractmethod
    def _unmute(self, batches: Iterable[PartitionSet]) -> None:
        """Nothing of them is in flight any more."""

    def _start_retry_batch(self, batch: PartitionSet, err: ClientError) -> None:
        name = f"producer/retryBatch/{batch.topic}/{batch.partition}"
        self._parent.runtime.tasks.go(self._retry_batch(batch, err), name)

    async def _handle_message(self, msg: ProducerMessage) -> None:
        if msg.flags & SYN:
            self._current_retries.pop((msg.topic, msg.partition), None)
            self._parent.in_flight.done()
            return
        reason = self._needs_retry(msg)
        if reason is not None:
            await self._parent.retry_message(msg, reason)
            if self._closing is None and msg.flags & FIN:
                # We were retrying this partition, but can start processing again.
                self._current_retries.pop((msg.topic, msg.partition), None)
            return
        if msg.flags & FIN and self._parent.conf.release.returns_early_fin:
            await self._parent.retry_message(msg, self._parent.conf.errors.sentinel("ErrShuttingDown"))
            return
        reason = await self._ensure_space(msg)
        if reason is not None:
            await self._parent.retry_message(msg, reason)
            return
        try:
            self._buffer.add(msg)
        except ClientError as wrong:
            await self._parent.return_error(msg, wrong)
            return
        frequency = self._parent.conf.flush_frequency
        if frequency.seconds > 0 and self._timer is None:
            self._timer = after(frequency.seconds)
            self._timer_wait = self._parent.runtime.tracer.wait(frequency, "flush", broker=self._broker.id)

    async def _ensure_space(self, msg: ProducerMessage) -> ClientError | None:
        if self._buffer.would_overflow(msg):
            reason = await self._wait_for_space(msg, force_rollover=False)
            if reason is not None:
                return reason
        numbered = self._parent.txnmgr.producer_id != NO_PRODUCER_ID
        if numbered and self._buffer.producer_epoch != msg.producer_epoch:
            return await self._wait_for_space(msg, force_rollover=True)
        return None

    def _needs_retry(self, msg: ProducerMessage) -> ClientError | None:
        return self._closing or self._current_retries.get((msg.topic, msg.partition))

    def _on_timer_fired(self) -> None:
        self._timer_fired = True
        self._end_timer_wait("elapsed")

    def _roll_over(self) -> None:
        self._timer = None
        self._timer_fired = False
        self._end_timer_wait("satisfied")
        self._buffer = self._parent.new_produce_set()

    def _end_timer_wait(self, outcome: str) -> None:
        if self._timer_wait is not None:
            self._timer_wait.end(outcome)
            self._timer_wait = None

    async def _handle_response(self, response: BrokerProducerResponse) -> None:
        if response.err is not None:
            await self._handle_error(response.sent, response.err)
        else:
            await self._handle_success(response.sent, response.res)
        if self._buffer.empty():
            self._roll_over()  # this can happen if the response invalidated our buffer

    async def _handle_success(self, sent: ProduceSet, response: ProduceResponse | None) -> None:
        # By the blocks of the request, not of the response, to notice if the response lacks one.
        blocks = {} if response is None else _blocks(response)
        retriable: list[tuple[PartitionSet, KError]] = []
        for batch in sent.each_partition():
            block = blocks.get((batch.topic, batch.partition))
            if response is None:
                # No response was asked for: success has to be assumed.
                await self._parent.return_successes(batch.msgs)
            elif block is None:
                await self._parent.return_errors(batch.msgs, self._parent.conf.errors.sentinel("ErrIncompleteResponse"))
            else:
                err = await self._handle_block(batch, block)
                if err is not None:
                    retriable.append((batch, err))
        if retriable:
            await self._retry_blocks(retriable)
        kept = [batch for batch, _ in retriable] if self._parent.conf.idempotent else []
        self._unmute(batch for batch in sent.each_partition() if batch not in kept)

    async def _handle_block(self, batch: PartitionSet, block: PartitionProduceResponse) -> KError | None:
        """What the broker said of one batch; the error where it is to be tried again."""
        if block.error_code in (_NO_ERROR, _DUPLICATE):
            if block.error_code == _NO_ERROR:
                for place, msg in enumerate(batch.msgs):
                    msg.offset = block.base_offset + place
            await self._parent.return_successes(batch.msgs)
            return None
        err = self._parent.conf.errors.kerror_from_code(block.error_code)
        if self._parent.conf.retry_max > 0 and block.error_code in self._retriable:
            return err
        if self._parent.conf.retry_max <= 0:
            self._parent.abandon_broker_connection(self._broker)
        await self._parent.return_errors(batch.msgs, err)
        return None

    async def _retry_blocks(self, retriable: list[tuple[PartitionSet, KError]]) -> None:
        idempotent = self._parent.conf.idempotent
        if idempotent:
            with suppress(ClientError):  # upstream logs it and continues
                await self._parent.client.refresh_metadata(*(batch.topic for batch, _ in retriable))
        for batch, err in retriable:
            self._current_retries[batch.topic, batch.partition] = err
            if idempotent:
                self._start_retry_batch(batch, err)
            else:
                await self._parent.retry_messages(batch.msgs, err)
            # Dropping the following messages has the side effect of incrementing their retry count.
            await self._parent.retry_messages(self._buffer.drop_partition(batch.topic, batch.partition), err)

    async def _handle_error(self, sent: ProduceSet, err: ClientError) -> None:
        if isinstance(err, PacketEncodingError):
            for batch in sent.each_partition():
                await self._parent.return_errors(batch.msgs, err)
            self._unmute(sent.each_partition())
            return
        self._parent.abandon_broker_connection(self._broker)
        await self._broker.close()
        self._closing = err
        await self._retry_after_closing(sent, err)


def _blocks(response: ProduceResponse) -> dict[tuple[str, int], PartitionProduceResponse]:
    return {(topic.name, block.index): block for topic in response.responses for block in topic.partition_responses}
