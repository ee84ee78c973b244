"""One request at a time to each broker: its result is known before the next one is sent.

Source: Shopify/sarama v1.27.2 async_producer.go (brokerProducer).
"""

from collections.abc import Iterable

from client.errors import ClientError, without_traceback
from client.golang import Channel, Receive, Send, select
from client.profiles.sarama.broker_producer import BrokerProducer, BrokerProducerResponse
from client.profiles.sarama.message import ProducerMessage
from client.profiles.sarama.produce_set import PartitionSet, ProduceSet


class SequentialProducer(BrokerProducer):
    def start(self) -> None:
        tasks = self._parent.runtime.tasks
        tasks.go(self._run(), f"producer/broker/{self._broker.id}/run")
        tasks.go(self._bridge(), f"producer/broker/{self._broker.id}/bridge")

    async def _bridge(self) -> None:
        """Turns responses from the network into values of a channel, which `select` can wait for."""
        async for sent in self.output:
            try:
                response = BrokerProducerResponse(sent, None, await self._broker.produce(sent.build_request()))
            except ClientError as err:
                response = BrokerProducerResponse(sent, without_traceback(err), None)
            await self._responses.send(response)
        self._responses.close()

    async def _run(self) -> None:
        output: Channel[ProduceSet] | None = None
        messages, responses = Receive(self.input), Receive(self._responses)
        while True:
            chosen = await select(
                self._rng,
                input=messages,
                timer=Receive(self._timer),
                output=Send(output, self._buffer),
                response=responses,
            )
            if chosen.case == "input":
                if not chosen.ok:
                    await self._shutdown()
                    return
                await self._handle_message(chosen.value)
            elif chosen.case == "timer":
                self._on_timer_fired()
            elif chosen.case == "output":
                self._roll_over()
            elif chosen.ok:
                await self._handle_response(chosen.value)
            output = self.output if self._timer_fired or self._buffer.ready_to_flush() else None

    async def _shutdown(self) -> None:
        while not self._buffer.empty():
            chosen = await select(self._rng, response=Receive(self._responses), output=Send(self.output, self._buffer))
            if chosen.case == "output":
                self._roll_over()
            elif chosen.ok:
                await self._handle_response(chosen.value)
        self.output.close()
        async for response in self._responses:
            await self._handle_response(response)

    async def _wait_for_space(self, msg: ProducerMessage, *, force_rollover: bool) -> ClientError | None:
        while True:
            chosen = await select(self._rng, response=Receive(self._responses), output=Send(self.output, self._buffer))
            if chosen.case == "output":
                self._roll_over()
                return None
            if chosen.ok:
                await self._handle_response(chosen.value)
            reason = self._needs_retry(msg)
            if reason is not None:
                return reason
            if not force_rollover and not self._buffer.would_overflow(msg):
                return None

    def _unmute(self, batches: Iterable[PartitionSet]) -> None:
        """With one request at a time nothing is muted."""

    async def _retry_after_closing(self, sent: ProduceSet, err: ClientError) -> None:
        for batch in (*sent.each_partition(), *self._buffer.each_partition()):
            await self._parent.retry_messages(batch.msgs, err)
        self._roll_over()

    async def _retry_batch(self, batch: PartitionSet, err: ClientError) -> None:
        """Of a batch without retries left, only the first message is answered: the senders of the others wait for ever
        (#2378). The reference to the leader's producer is never released."""
        parent = self._parent
        retry_set = parent.new_produce_set()
        retry_set.add_batch(batch)
        for msg in batch.msgs:
            if msg.retries >= parent.conf.retry_max:
                await parent.return_error(msg, err)
                return
            parent.count_retry(msg, err)
        try:
            leader = await parent.client.leader(batch.topic, batch.partition)
        except ClientError:
            await parent.return_errors(batch.msgs, err)
            return
        for msg in batch.msgs:
            parent.attempt_started(msg, leader)
        await parent.get_broker_producer(leader).output.send(retry_set)
