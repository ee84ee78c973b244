"""One a partition: finds its leader, hands messages to the leader's producer, and keeps their order during retries.

Source: Shopify/sarama v1.27.2 async_producer.go, IBM/sarama v1.60.1 async_producer.go (partitionProducer).
"""

from typing import TYPE_CHECKING

from client.errors import ClientError, without_traceback
from client.golang import Channel, sleep
from client.profiles.sarama.breaker import Breaker
from client.profiles.sarama.broker import Broker
from client.profiles.sarama.message import FIN, SYN, ProducerMessage

if TYPE_CHECKING:
    from client.profiles.sarama.async_producer import AsyncProducer
    from client.profiles.sarama.broker_producer import BrokerProducer


class _RetryState:
    """`buf`: messages of a level that wait until it is their turn; `expect_chaser`: its fin has not come back yet."""

    __slots__ = ("buf", "expect_chaser")

    def __init__(self) -> None:
        self.buf: list[ProducerMessage] = []
        self.expect_chaser = False


class PartitionProducer:
    """`high_watermark` is the current retry level: only its messages pass, those of lower levels wait in
    `retry_state[level].buf`."""

    def __init__(self, parent: "AsyncProducer", topic: str, partition: int) -> None:
        self._parent = parent
        self._topic = topic
        self._partition = partition
        self._input: Channel[ProducerMessage] = Channel(parent.conf.channel_buffer_size)
        self._leader: Broker | None = None
        self._breaker = Breaker(parent.runtime, 3, 1, 10.0, name=f"breaker of {topic}/{partition}")
        self._broker_producer: BrokerProducer | None = None
        self._high_watermark = 0
        self._retry_state: dict[int, _RetryState] = {}

    @classmethod
    def start(cls, parent: "AsyncProducer", topic: str, partition: int) -> Channel[ProducerMessage]:
        """Start a partition's producer. Returns its input."""
        pp = cls(parent, topic, partition)
        parent.runtime.tasks.go(pp._dispatch(), f"producer/{topic}/{partition}/dispatch")
        return pp._input

    async def _dispatch(self) -> None:
        # Try to prefetch the leader; if that does not work, the first message calls update_leader.
        try:
            self._leader = await self._parent.client.leader(self._topic, self._partition)
        except ClientError:
            self._leader = None
        else:
            await self._select_broker(self._leader)
        async for msg in self._input:
            await self._handle(msg)
        if self._broker_producer is not None:
            self._unref()

    async def _handle(self, msg: ProducerMessage) -> None:
        bp = self._broker_producer
        if bp is not None and bp.abandoned is not None and bp.abandoned.can_receive():
            # Our broker selection is out of date.
            self._unref()
            await self._backoff()
        if msg.retries > self._high_watermark:
            if self._parent.conf.release.finds_leader_before_fin and not await self._has_broker_producer(msg):
                return
            await self._new_high_watermark(msg.retries)
            await self._backoff()
        elif self._high_watermark > 0:
            state = self._state(msg.retries)
            if msg.retries < self._high_watermark:
                # Not the current level: it waits, unless it is only a fin.
                if msg.flags & FIN:
                    state.expect_chaser = False
                    self._parent.in_flight.done()
                else:
                    state.buf.append(msg)
                return
            if msg.flags & FIN:
                # This level is done: go down (at least) one and flush that.
                state.expect_chaser = False
                await self._flush_retry_buffers()
                self._parent.in_flight.done()
                return
        self._parent.attempt_started(msg, self._leader if self._broker_producer is not None else None)
        if not await self._has_broker_producer(msg):
            return
        assert self._broker_producer is not None
        self._assign_sequence_number(msg)
        await self._broker_producer.input.send(msg)

    async def _has_broker_producer(self, msg: ProducerMessage) -> bool:
        """Choose one where there is none; False where that failed, and the message with it."""
        if self._broker_producer is None:
            try:
                await self._update_leader()
            except ClientError as err:
                await self._parent.return_error(msg, without_traceback(err))
                await self._backoff()
                return False
        return True

    def _assign_sequence_number(self, msg: ProducerMessage) -> None:
        """A message that is sent for the first time gets its number; markers have none."""
        if self._parent.conf.idempotent and msg.retries == 0 and msg.flags == 0 and not msg.has_sequence:
            manager = self._parent.txnmgr
            msg.sequence_number, msg.producer_epoch = manager.next_sequence_number(msg.topic, msg.partition)
            msg.has_sequence = True

    def _state(self, level: int) -> _RetryState:
        return self._retry_state.setdefault(level, _RetryState())

    async def _backoff(self) -> None:
        backoff = self._parent.conf.retry_backoff
        if backoff.seconds > 0:
            with self._parent.runtime.tracer.sleeping(backoff, "producer back-off"):
                await sleep(backoff.seconds)

    async def _new_high_watermark(self, high_watermark: int) -> None:
        self._high_watermark = high_watermark
        # When the fin comes back, so has everything sent before it: the backlog can be flushed in order.
        self._state(high_watermark).expect_chaser = True
        self._parent.in_flight.add(1)
        assert self._broker_producer is not None
        await self._broker_producer.input.send(
            ProducerMessage(topic=self._topic, partition=self._partition, flags=FIN, retries=high_watermark - 1)
        )
        # A new high watermark means that the current broker selection is out of date.
        self._unref()

    async def _flush_retry_buffers(self) -> None:
        while True:
            self._high_watermark -= 1
            state = self._state(self._high_watermark)
            await self._flush(state.buf)
            state.buf = []
            if state.expect_chaser or self._high_watermark == 0:
                return

    async def _flush(self, buf: list[ProducerMessage]) -> None:
        for msg in buf:
            self._parent.attempt_started(msg, self._leader if self._broker_producer is not None else None)
        if self._broker_producer is None:
            try:
                await self._update_leader()
            except ClientError as err:
                await self._parent.return_errors(buf, without_traceback(err))
                return
        assert self._broker_producer is not None
        for msg in buf:
            if self._parent.conf.release.assigns_sequence_on_flush:
                self._assign_sequence_number(msg)
            await self._broker_producer.input.send(msg)

    async def _update_leader(self) -> None:
        async def work() -> None:
            client = self._parent.client
            await client.refresh_metadata(self._topic)
            self._leader = await client.leader(self._topic, self._partition)
            await self._select_broker(self._leader)

        await self._breaker.run(work)

    async def _select_broker(self, leader: Broker) -> None:
        """Take the leader's producer, and open the partition in it by a syn."""
        self._broker_producer = self._parent.get_broker_producer(leader)
        self._parent.in_flight.add(1)
        await self._broker_producer.input.send(ProducerMessage(topic=self._topic, partition=self._partition, flags=SYN))

    def _unref(self) -> None:
        assert self._leader is not None
        assert self._broker_producer is not None
        self._parent.unref_broker_producer(self._leader, self._broker_producer)
        self._broker_producer = None
