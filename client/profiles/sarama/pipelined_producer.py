"""Several requests at a time to each broker, of each partition one: a batch in flight mutes its partition.

Source: IBM/sarama v1.60.1 async_producer.go (brokerProducer, retryBatch).
"""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress

from client.errors import ClientError, without_traceback
from client.golang import Channel, Receive, Send, WaitGroup, select, sleep
from client.profiles.sarama.broker_producer import BrokerProducer, BrokerProducerResponse
from client.profiles.sarama.message import ProducerMessage
from client.profiles.sarama.produce_set import PartitionSet, ProduceSet
from client.wire.apis.produce import ProduceResponse


class PipelinedProducer(BrokerProducer):
    """`_buffer` gathers; `_flushing` is muted and goes out next."""

    _flushing: ProduceSet | None = None

    def start(self) -> None:
        tasks = self._parent.runtime.tasks
        pending: Channel[BrokerProducerResponse] = Channel()
        tasks.go(self._run(), f"producer/broker/{self._broker.id}/run")
        tasks.go(self._bridge(pending), f"producer/broker/{self._broker.id}/bridge")
        tasks.go(self._forward(pending), f"producer/broker/{self._broker.id}/pending")

    async def _bridge(self, pending: Channel[BrokerProducerResponse]) -> None:
        """Sends without waiting for answers; they come into `pending`."""
        in_flight = WaitGroup()

        async def send_response(response: BrokerProducerResponse) -> None:
            await pending.send(response)
            in_flight.done()

        async for sent in self.output:
            in_flight.add(1)

            async def handle(found: ProduceResponse | ClientError, sent: ProduceSet = sent) -> None:
                if isinstance(found, ClientError):
                    await send_response(BrokerProducerResponse(sent, found, None))
                else:
                    await send_response(BrokerProducerResponse(sent, None, found))

            try:
                await self._broker.async_produce(sent.build_request(), handle)
            except ClientError as err:
                await send_response(BrokerProducerResponse(sent, without_traceback(err), None))
            else:
                if self._parent.conf.required_acks == 0:
                    await send_response(BrokerProducerResponse(sent, None, None))
        await in_flight.wait()
        pending.close()

    async def _forward(self, pending: Channel[BrokerProducerResponse]) -> None:
        """An unlimited buffer: the task that reads the network must never wait for `_run`, which closes the broker."""
        buf: deque[BrokerProducerResponse] = deque()
        open_pending: Channel[BrokerProducerResponse] | None = pending
        while open_pending is not None or buf:
            oldest = Send(self._responses if buf else None, buf[0] if buf else None)
            chosen = await select(self._rng, pending=Receive(open_pending), forward=oldest)
            if chosen.case == "forward":
                buf.popleft()
            elif chosen.ok:
                buf.append(chosen.value)
            else:
                open_pending = None
        self._responses.close()

    async def _run(self) -> None:
        while True:
            unmuted = self._build_flushing_batch() if self._timer_fired or self._buffer.ready_to_flush() else None
            chosen = await select(
                self._rng,
                input=Receive(self.input),
                timer=Receive(self._timer),
                output=Send(None if self._flushing is None else self.output, self._flushing),
                unmuted=Receive(unmuted),
                response=Receive(self._responses),
            )
            if chosen.case == "input":
                if not chosen.ok:
                    await self._shutdown()
                    return
                await self._handle_message(chosen.value)
            elif chosen.case == "timer":
                self._on_timer_fired()
            elif chosen.case == "output":
                self._flushing = None
            elif chosen.case == "response" and chosen.ok:
                await self._handle_response(chosen.value)

    def _build_flushing_batch(self) -> Channel[None] | None:
        """Take the buffer for the next request, or those of its partitions that are not muted. Where all are muted,
        returns the signal to wait for before the next attempt."""
        if self._flushing is not None or self._buffer.empty():
            return None
        muter = self._parent.muter
        signal = muter.unmute_signal
        if muter.try_mute(self._buffer):
            self._flushing = self._buffer
            self._roll_over()
            return None
        self._flushing = self._buffer.split_off_partitions(muter.try_mute_partition)
        if self._flushing is None:
            return signal  # a partition may be another broker's to unmute (#3689)
        if self._buffer.empty():
            self._roll_over()
        return None

    async def _flush_or_handle(self, unmuted: Channel[None] | None) -> bool:
        """Wait until the request can be sent, a response comes, or a partition is unmuted. True for a response."""
        chosen = await select(
            self._rng,
            response=Receive(self._responses),
            output=Send(None if self._flushing is None else self.output, self._flushing),
            unmuted=Receive(unmuted),
        )
        if chosen.case == "output":
            self._flushing = None
        elif chosen.case == "response" and chosen.ok:
            await self._handle_response(chosen.value)
        return chosen.case == "response"

    async def _shutdown(self) -> None:
        while self._flushing is not None:
            await self._flush_or_handle(None)
        while not self._buffer.empty() or self._flushing is not None:
            await self._flush_or_handle(self._build_flushing_batch())
        self.output.close()
        async for response in self._responses:
            await self._handle_response(response)

    async def _wait_for_space(self, msg: ProducerMessage, *, force_rollover: bool) -> ClientError | None:
        while self._buffer.would_overflow(msg) or force_rollover:
            unmuted = None
            if self._flushing is None:
                if self._buffer.empty():
                    if force_rollover:
                        self._roll_over()
                    return None
                unmuted = self._build_flushing_batch()
                if unmuted is None:
                    continue
            if await self._flush_or_handle(unmuted):
                reason = self._needs_retry(msg)
                if reason is not None:
                    return reason
        return None

    def _unmute(self, batches: Iterable[PartitionSet]) -> None:
        self._parent.muter.unmute(batches)

    async def _retry_after_closing(self, sent: ProduceSet, err: ClientError) -> None:
        """Every batch of the request is retried as a whole and stays muted, so that no later one overtakes it."""
        topics = dict.fromkeys(batch.topic for batch in sent.each_partition())
        if topics:
            with suppress(ClientError):  # upstream logs it and continues
                await self._parent.client.refresh_metadata(*topics)
        for batch in sent.each_partition():
            self._current_retries[batch.topic, batch.partition] = err
            self._start_retry_batch(batch, err)
        for batch in self._buffer.each_partition():
            await self._parent.retry_messages(batch.msgs, err)
        self._roll_over()
        self._unmute(())

    async def _retry_batch(self, batch: PartitionSet, err: ClientError) -> None:
        """The batch is muted, and metadata were refreshed just before."""
        parent = self._parent
        if any(msg.retries >= parent.conf.retry_max for msg in batch.msgs):
            await self._give_up(batch, err)
            return
        for msg in batch.msgs:
            parent.count_retry(msg, err)
        backoff = parent.conf.retry_backoff
        if batch.msgs and backoff.seconds > 0:
            with parent.runtime.tracer.sleeping(backoff, "producer back-off"):
                await sleep(backoff.seconds)
        for msg in batch.msgs:
            parent.attempt_started(msg, None)
        try:
            leader = await parent.client.leader(batch.topic, batch.partition)
        except ClientError:
            await self._give_up(batch, err)
            return
        retry_set = parent.new_produce_set()
        retry_set.add_batch(batch)
        bp = parent.get_broker_producer(leader)
        chosen = await select(self._rng, output=Send(bp.output, retry_set), done=Receive(parent.done))
        if chosen.case == "done":
            await self._give_up(batch, parent.conf.errors.sentinel("ErrShuttingDown"))
        parent.unref_broker_producer(leader, bp)

    async def _give_up(self, batch: PartitionSet, err: ClientError) -> None:
        await self._parent.return_errors(batch.msgs, err)
        self._parent.muter.unmute((batch,))
