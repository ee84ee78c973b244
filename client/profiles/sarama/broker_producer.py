"""One a broker: gathers messages into requests, sends one request at a time, and sorts out what came of it.

Source: Shopify/sarama v1.27.2 async_producer.go (brokerProducer).
"""

from typing import TYPE_CHECKING, NamedTuple

from client.errors import ClientError
from client.events import Wait
from client.golang import Channel, Receive, Send, after, select
from client.profiles.sarama.broker import PRODUCE_VERSION, Broker
from client.profiles.sarama.errors import CODES, KError, PacketEncodingError, sentinel
from client.profiles.sarama.message import FIN, SYN, ProducerMessage
from client.profiles.sarama.produce_set import PartitionMessages, ProduceSet
from client.wire.apis.produce import PartitionProduceResponse, ProduceResponse

if TYPE_CHECKING:
    from client.profiles.sarama.async_producer import AsyncProducer

_NO_ERROR = CODES["ErrNoError"]
_DUPLICATE = CODES["ErrDuplicateSequenceNumber"]
_RETRIABLE = frozenset(
    CODES[name]
    for name in (
        "ErrInvalidMessage",
        "ErrUnknownTopicOrPartition",
        "ErrLeaderNotAvailable",
        "ErrNotLeaderForPartition",
        "ErrRequestTimedOut",
        "ErrNotEnoughReplicas",
        "ErrNotEnoughReplicasAfterAppend",
    )
)


class _Response(NamedTuple):
    """What came of a set: an error, or a response (None where none was asked for)."""

    sent: ProduceSet
    err: ClientError | None
    res: ProduceResponse | None


class BrokerProducer:
    """`input` takes messages; `abandoned`, there only without retries, is closed when the connection is given up."""

    def __init__(self, parent: "AsyncProducer", broker: Broker) -> None:
        self._parent = parent
        self._broker = broker
        self._rng = parent.surroundings.rng
        self.input: Channel[ProducerMessage] = Channel()
        self.abandoned: Channel[None] | None = Channel() if parent.conf.retry_max <= 0 else None
        self._output: Channel[ProduceSet] = Channel()
        self._responses: Channel[_Response] = Channel()
        self._buffer = ProduceSet(parent.conf, self._rng)
        self._timer: Channel[float] | None = None
        self._timer_wait: Wait | None = None
        self._timer_fired = False
        self._closing: ClientError | None = None
        self._current_retries: dict[tuple[str, int], ClientError] = {}

    @classmethod
    def start(cls, parent: "AsyncProducer", broker: Broker) -> "BrokerProducer":
        bp = cls(parent, broker)
        parent.surroundings.tasks.go(bp._run(), f"producer/broker/{broker.id}/run")
        parent.surroundings.tasks.go(bp._bridge(), f"producer/broker/{broker.id}/bridge")
        return bp

    async def _bridge(self) -> None:
        """Makes the network's answer something that `select` can wait for."""
        async for sent in self._output:
            try:
                response = await self._broker.produce(sent.build_request(), PRODUCE_VERSION)
            except ClientError as err:
                await self._responses.send(_Response(sent, err, None))
            else:
                await self._responses.send(_Response(sent, None, response))
        self._responses.close()

    async def _run(self) -> None:
        output: Channel[ProduceSet] | None = None
        while True:
            chosen = await select(
                self._rng,
                Receive(self.input),
                Receive(self._timer),
                Send(output, self._buffer),
                Receive(self._responses),
            )
            if chosen.place == 0:
                if not chosen.ok:
                    await self._shutdown()
                    return
                await self._take(chosen.value)
            elif chosen.place == 1:
                self._timer_fired = True
                self._end_timer_wait("elapsed")
            elif chosen.place == 2:
                self._roll_over()
            elif chosen.ok:
                await self._handle_response(chosen.value)
            output = self._output if self._timer_fired or self._buffer.ready_to_flush() else None

    async def _take(self, msg: ProducerMessage) -> None:
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
        if self._buffer.would_overflow(msg):
            reason = await self._wait_for_space(msg)
            if reason is not None:
                await self._parent.retry_message(msg, reason)
                return
        self._buffer.add(msg)
        frequency = self._parent.conf.flush_frequency
        if frequency.seconds > 0 and self._timer is None:
            self._timer = after(frequency.seconds)
            self._timer_wait = self._parent.surroundings.tracer.wait(
                frequency.setting, frequency.seconds, "flush", broker=self._broker.id
            )

    async def _shutdown(self) -> None:
        while not self._buffer.empty():
            chosen = await select(self._rng, Receive(self._responses), Send(self._output, self._buffer))
            if chosen.place == 1:
                self._roll_over()
            elif chosen.ok:
                await self._handle_response(chosen.value)
        self._output.close()
        async for response in self._responses:
            await self._handle_response(response)

    def _needs_retry(self, msg: ProducerMessage) -> ClientError | None:
        return self._closing or self._current_retries.get((msg.topic, msg.partition))

    async def _wait_for_space(self, msg: ProducerMessage) -> ClientError | None:
        """Why the message has to be retried instead; None once there is room."""
        while True:
            chosen = await select(self._rng, Receive(self._responses), Send(self._output, self._buffer))
            if chosen.place == 1:
                self._roll_over()
                return None
            if chosen.ok:
                await self._handle_response(chosen.value)
            reason = self._needs_retry(msg)
            if reason is not None:
                return reason
            if not self._buffer.would_overflow(msg):
                return None

    def _roll_over(self) -> None:
        self._timer = None
        self._timer_fired = False
        self._end_timer_wait("satisfied")
        self._buffer = ProduceSet(self._parent.conf, self._rng)

    def _end_timer_wait(self, outcome: str) -> None:
        if self._timer_wait is not None:
            self._timer_wait.end(outcome)
            self._timer_wait = None

    async def _handle_response(self, response: _Response) -> None:
        if response.err is not None:
            await self._handle_error(response.sent, response.err)
        else:
            await self._handle_success(response.sent, response.res)
        if self._buffer.empty():
            self._roll_over()  # this can happen if the response invalidated our buffer

    async def _handle_success(self, sent: ProduceSet, response: ProduceResponse | None) -> None:
        # By the blocks of the request, not of the response, to notice if the response lacks one.
        blocks = {} if response is None else _blocks(response)
        retriable: list[tuple[PartitionMessages, KError]] = []
        for one in sent.each_partition():
            if response is None:
                # No response was asked for: success has to be assumed.
                await self._parent.return_successes(one.msgs)
                continue
            block = blocks.get((one.topic, one.partition))
            if block is None:
                await self._parent.return_errors(one.msgs, sentinel("ErrIncompleteResponse"))
            elif block.error_code in (_NO_ERROR, _DUPLICATE):
                if block.error_code == _NO_ERROR:
                    for place, msg in enumerate(one.msgs):
                        msg.offset = block.base_offset + place
                await self._parent.return_successes(one.msgs)
            elif block.error_code in _RETRIABLE and self._parent.conf.retry_max > 0:
                retriable.append((one, KError(block.error_code)))
            else:
                if self._parent.conf.retry_max <= 0:
                    self._parent.abandon_broker_connection(self._broker)
                await self._parent.return_errors(one.msgs, KError(block.error_code))
        for one, err in retriable:
            self._current_retries[one.topic, one.partition] = err
            await self._parent.retry_messages(one.msgs, err)
            # Dropping the following messages has the side effect of incrementing their retry count.
            await self._parent.retry_messages(self._buffer.drop_partition(one.topic, one.partition), err)

    async def _handle_error(self, sent: ProduceSet, err: ClientError) -> None:
        if isinstance(err, PacketEncodingError):
            for one in sent.each_partition():
                await self._parent.return_errors(one.msgs, err)
            return
        self._parent.abandon_broker_connection(self._broker)
        await self._broker.close()
        self._closing = err
        for one in (*sent.each_partition(), *self._buffer.each_partition()):
            await self._parent.retry_messages(one.msgs, err)
        self._roll_over()


def _blocks(response: ProduceResponse) -> dict[tuple[str, int], PartitionProduceResponse]:
    return {(topic.name, block.index): block for topic in response.responses for block in topic.partition_responses}
