"""The asynchronous producer's singletons: dispatcher, retry handler, shutdown, and one producer a broker.

Source: Shopify/sarama v1.27.2 async_producer.go, IBM/sarama v1.60.1 async_producer.go. Its other parts are in
topic_producer, partition_producer, broker_producer and pipelined_producer. Interceptors are left out.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from client.errors import ClientError
from client.events import TraceKind
from client.golang import Channel, Receive, Send, WaitGroup, in_map_order, select, select_or_default
from client.profiles.sarama.broker import Broker
from client.profiles.sarama.broker_producer import BrokerProducer
from client.profiles.sarama.client import Client, new_client
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import ConfigurationError
from client.profiles.sarama.message import SHUTDOWN, ProducerError, ProducerMessage
from client.profiles.sarama.muter import PartitionMuter
from client.profiles.sarama.pipelined_producer import PipelinedProducer
from client.profiles.sarama.produce_set import ProduceSet
from client.profiles.sarama.sequential_producer import SequentialProducer
from client.profiles.sarama.topic_producer import TopicProducer
from client.profiles.sarama.transaction_manager import TransactionManager, new_transaction_manager
from client.runtime import ClientRuntime

_MIN_RETRY_BUFFER_LENGTH = 4 * 1024
_MIN_RETRY_BUFFER_BYTES = 32 * 1024 * 1024
"""Limits of the retry buffer below these are taken for these."""


class AsyncProducer:
    """Messages go into `input`; each comes out of `successes` or `errors`, which the program has to read."""

    def __init__(self, client: Client, txnmgr: TransactionManager) -> None:
        self.client = client
        self.conf = client.conf
        self.txnmgr = txnmgr
        self.runtime = client.runtime
        self.errors: Channel[ProducerError] = Channel()
        self.input: Channel[ProducerMessage] = Channel()
        self.successes: Channel[ProducerMessage] = Channel()
        self.in_flight = WaitGroup()
        self.muter = PartitionMuter()
        self.done: Channel[None] = Channel()
        """Closed when the shutdown begins."""
        self._closed = False
        self._retries: Channel[ProducerMessage] = Channel()
        self._brokers: dict[Broker, BrokerProducer] = {}
        self._broker_refs: dict[BrokerProducer, int] = {}
        self.runtime.tasks.go(self._dispatcher(), "producer/dispatcher")
        self.runtime.tasks.go(self._retry_handler(), "producer/retryHandler")

    def async_close(self) -> None:
        """Start to shut down: done when `errors` and `successes` are closed."""
        self.runtime.tasks.go(self._shutdown(), "producer/shutdown")

    async def _dispatcher(self) -> None:
        """Singleton: hands messages to their topic's producer."""
        handlers: dict[str, Channel[ProducerMessage]] = {}
        shutting_down = False
        async for msg in self.input:
            if msg.flags & SHUTDOWN:
                shutting_down = True
                self.in_flight.done()
                continue
            if msg.retries == 0:
                if shutting_down:
                    # Not return_error: that would count down what was never counted up.
                    await self.errors.send(ProducerError(msg, self.conf.errors.sentinel("ErrShuttingDown")))
                    continue
                self.in_flight.add(1)
            if msg.byte_size() > self.conf.max_message_bytes:
                await self.return_error(msg, self._too_large(msg))
                continue
            handler = handlers.get(msg.topic)
            if handler is None:
                handler = handlers[msg.topic] = TopicProducer.start(self, msg.topic)
            await handler.send(msg)
        for _, handler in in_map_order(self.runtime.rng, handlers):
            handler.close()

    def _too_large(self, msg: ProducerMessage) -> ClientError:
        if not self.conf.release.reports_message_size:
            return self.conf.errors.kerror("ErrMessageSizeTooLarge")
        sizes = f"{msg.byte_size()} > {self.conf.max_message_bytes}"
        return ConfigurationError(
            f"Attempt to produce message larger than configured Producer.MaxMessageBytes: {sizes}"
        )

    async def _retry_handler(self) -> None:
        """Singleton: a buffer before the dispatcher, so that retrying tasks never block it."""
        max_messages = _with_minimum(self.conf.retry_max_buffer_length, _MIN_RETRY_BUFFER_LENGTH)
        max_bytes = _with_minimum(self.conf.retry_max_buffer_bytes, _MIN_RETRY_BUFFER_BYTES)
        buf: deque[ProducerMessage] = deque()
        size_bytes = 0
        while True:
            oldest = Send(self.input if buf else None, buf[0] if buf else None)
            chosen = await select(self.runtime.rng, retry=Receive(self._retries), input=oldest)
            if chosen.case == "input":
                size_bytes -= buf.popleft().byte_size()
                continue
            if not chosen.ok:
                return
            buf.append(chosen.value)
            size_bytes += chosen.value.byte_size()
            if (0 < max_messages <= len(buf) or 0 < max_bytes <= size_bytes) and buf[0].flags == 0:
                msg = buf.popleft()
                size_bytes -= msg.byte_size()
                if select_or_default(self.runtime.rng, input=Send(self.input, msg)) is None:
                    await self.return_error(msg, self.conf.errors.sentinel("ErrProducerRetryBufferOverflow"))

    async def _shutdown(self) -> None:
        if not self._closed:
            self._closed = True
            self.done.close()
        self.in_flight.add(1)
        await self.input.send(ProducerMessage(flags=SHUTDOWN))
        await self.in_flight.wait()
        with suppress(ClientError):  # upstream logs it and continues
            await self.client.close()
        self.muter.close()
        self.input.close()
        self._retries.close()
        self.errors.close()
        self.successes.close()

    def new_produce_set(self) -> ProduceSet:
        manager = self.txnmgr
        return ProduceSet(self.conf, self.runtime.rng, manager.producer_id, manager.producer_epoch)

    async def _bump_epoch(self) -> None:
        """The broker will never see the failed message's number, so the sequence has a gap."""
        if not (self.txnmgr.exhausted and self.conf.release.renews_producer_id_on_epoch_exhaustion):
            self.txnmgr.bump_epoch()
            return
        with suppress(ClientError):  # upstream logs it and continues
            self.txnmgr = await new_transaction_manager(self.conf, self.client)

    async def return_error(self, msg: ProducerMessage, err: ClientError) -> None:
        self.attempt_ended(msg, err)
        if msg.has_sequence:
            await self._bump_epoch()
        msg.clear()
        await self.errors.send(ProducerError(msg, err))
        self.in_flight.done()

    async def return_errors(self, batch: Sequence[ProducerMessage], err: ClientError) -> None:
        for msg in batch:
            await self.return_error(msg, err)

    async def return_successes(self, batch: Sequence[ProducerMessage]) -> None:
        for msg in batch:
            self.attempt_ended(msg, None)
            msg.clear()
            await self.successes.send(msg)
            self.in_flight.done()

    async def retry_message(self, msg: ProducerMessage, err: ClientError) -> None:
        if msg.retries >= self.conf.retry_max:
            await self.return_error(msg, err)
        else:
            self.count_retry(msg, err)
            await self._retries.send(msg)

    async def retry_messages(self, batch: Sequence[ProducerMessage], err: ClientError) -> None:
        for msg in batch:
            await self.retry_message(msg, err)

    def count_retry(self, msg: ProducerMessage, err: ClientError) -> None:
        """Count one more try of a message that has one left."""
        self.attempt_ended(msg, err)
        msg.retries += 1

    def get_broker_producer(self, broker: Broker) -> BrokerProducer:
        """The producer of this broker, with one more reference."""
        bp = self._brokers.get(broker)
        if bp is None:
            make = PipelinedProducer if self.conf.release.pipelines_requests else SequentialProducer
            bp = self._brokers[broker] = make(self, broker)
            bp.start()
            self._broker_refs[bp] = 0
        self._broker_refs[bp] += 1
        return bp

    def unref_broker_producer(self, broker: Broker, bp: BrokerProducer) -> None:
        """Drop one reference; a producer without any shuts down."""
        self._broker_refs[bp] -= 1
        if self._broker_refs[bp] == 0:
            bp.input.close()
            del self._broker_refs[bp]
            if self._brokers.get(broker) is bp:
                del self._brokers[broker]

    def abandon_broker_connection(self, broker: Broker) -> None:
        """The next `get_broker_producer` makes a new one. Without retries, `abandoned` tells users of the old one."""
        bp = self._brokers.pop(broker, None)
        if bp is not None and bp.abandoned is not None:
            bp.abandoned.close()

    def attempt_started(self, msg: ProducerMessage, broker: Broker | None) -> None:
        """Trace only: a try to deliver begins, to this broker where it is known already."""
        if msg.operation is not None and not msg.attempt_in_progress:
            msg.attempt_in_progress = True
            known = {} if broker is None else {"broker": broker.id}
            self.runtime.tracer.emit(
                TraceKind.ATTEMPT_STARTED, operation=msg.operation, try_number=msg.retries + 1, **known
            )

    def attempt_ended(self, msg: ProducerMessage, err: ClientError | None) -> None:
        """Trace only: the try ended, if one had begun."""
        if msg.operation is not None and msg.attempt_in_progress:
            msg.attempt_in_progress = False
            failed = {} if err is None else {"error": err.text}
            self.runtime.tracer.emit(
                TraceKind.ATTEMPT_ENDED,
                operation=msg.operation,
                try_number=msg.retries + 1,
                outcome="ok" if err is None else "failed",
                **failed,
            )


async def new_async_producer(runtime: ClientRuntime, conf: Config, addrs: Sequence[tuple[str, int]]) -> AsyncProducer:
    """Raises what `new_client` and `new_transaction_manager` raise; the client then lives on, as upstream's does."""
    client = await new_client(runtime, conf, addrs)
    return AsyncProducer(client, await new_transaction_manager(conf, client))


def _with_minimum(limit: int, minimum: int) -> int:
    return max(limit, minimum) if limit > 0 else 0
