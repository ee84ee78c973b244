"""Reads an AsyncProducer's successes and errors, and hands each to the sender that waits for it.

Source: Shopify/sarama v1.27.2 sync_producer.go, IBM/sarama v1.60.1 sync_producer.go (handleSuccesses, handleErrors).
"""

from client.golang import Channel, WaitGroup, select
from client.profiles.sarama.async_producer import AsyncProducer
from client.profiles.sarama.message import ProducerError, ProducerMessage


class DeliveryTracker:
    """Two goroutines, one a channel; they end when the producer has shut down."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._producer = producer
        self._rng = producer.runtime.rng
        self._wg = WaitGroup()
        self._wg.add(2)
        tasks = producer.runtime.tasks
        tasks.go(self._handle_successes(), "producer/handleSuccesses")
        tasks.go(self._handle_errors(), "producer/handleErrors")

    async def send_and_wait(self, msg: ProducerMessage) -> ProducerError | None:
        """Hand the message in; its failure once its fate is known, None where it was delivered."""
        msg.expectation = Channel(1)
        await self._producer.input.send(msg)
        failed, _ = await msg.expectation.receive()
        return failed

    async def _handle_successes(self) -> None:
        async for msg in self._producer.successes:
            assert msg.expectation is not None
            await msg.expectation.send(None)
        self._wg.done()

    async def _handle_errors(self) -> None:
        async for failed in self._producer.errors:
            if failed.msg.expectation is None:
                await select(self._rng)  # a marker came out as an error: in Go this is a send on a nil channel
                continue
            await failed.msg.expectation.send(failed)
        self._wg.done()

    async def close(self) -> None:
        """Returns when everything in flight has ended."""
        self._producer.async_close()
        await self._wg.wait()
