"""The producer whose send blocks until the message's fate is known. Source: Shopify/sarama v1.27.2 sync_producer.go."""

from collections.abc import Sequence

from client.errors import ClientError
from client.golang import Channel, WaitGroup
from client.profiles.contract import Acknowledged
from client.profiles.sarama.async_producer import AsyncProducer, new_async_producer
from client.profiles.sarama.config import config_of
from client.profiles.sarama.message import ProducerMessage
from client.settings import Settings
from client.surroundings import Surroundings


class SyncProducer:
    """Carries out `client.profiles.contract.Producer`."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._producer = producer
        self._wg = WaitGroup()
        self._wg.add(2)
        tasks = producer.surroundings.tasks
        tasks.go(self._handle_successes(), "syncProducer/handleSuccesses")
        tasks.go(self._handle_errors(), "syncProducer/handleErrors")

    async def send(
        self, operation: str, topic: str, partition: int | None, key: bytes | None, value: bytes
    ) -> Acknowledged:
        msg = ProducerMessage(operation=operation, topic=topic, named_partition=partition, key=key, value=value)
        await self.send_message(msg)
        return Acknowledged(msg.partition, msg.offset)

    async def send_message(self, msg: ProducerMessage) -> None:
        expectation: Channel[ClientError | None] = Channel(1)
        msg.expectation = expectation
        await self._producer.input.send(msg)
        err, _ = await expectation.receive()
        if err is not None:
            raise err

    async def _handle_successes(self) -> None:
        async for msg in self._producer.successes:
            assert msg.expectation is not None
            await msg.expectation.send(None)
        self._wg.done()

    async def _handle_errors(self) -> None:
        async for failed in self._producer.errors:
            assert failed.msg.expectation is not None
            await failed.msg.expectation.send(failed.err)
        self._wg.done()

    async def close(self) -> None:
        """Returns when everything in flight has ended."""
        self._producer.async_close()
        await self._wg.wait()


async def new_sync_producer(
    surroundings: Surroundings, settings: Settings, addrs: Sequence[tuple[str, int]]
) -> SyncProducer:
    """Blocks until the first metadata have come. Raises ClientError."""
    return SyncProducer(await new_async_producer(surroundings, config_of(settings), addrs))
