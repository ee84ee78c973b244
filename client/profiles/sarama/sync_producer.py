"""The producer whose send blocks until the message's fate is known.

Source: Shopify/sarama v1.27.2 sync_producer.go, IBM/sarama v1.60.1 sync_producer.go.
"""

from collections.abc import Sequence

from client.operations import Send
from client.profiles.sarama.async_producer import AsyncProducer, new_async_producer
from client.profiles.sarama.config import build_config
from client.profiles.sarama.delivery_tracker import DeliveryTracker
from client.profiles.sarama.message import new_message
from client.profiles.sarama.producer import RecordMetadata
from client.runtime import ClientRuntime
from client.settings import Settings


class SyncProducer:
    """Carries out `client.profiles.sarama.producer.Producer`."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._tracker = DeliveryTracker(producer)

    async def send(self, operation: str, message: Send) -> RecordMetadata:
        msg = new_message(operation, message)
        failed = await self._tracker.send_and_wait(msg)
        if failed is not None:
            raise failed.err
        return RecordMetadata(msg.partition, msg.offset)

    async def close(self) -> None:
        """Returns when everything in flight has ended."""
        await self._tracker.close()


async def new_sync_producer(
    runtime: ClientRuntime, settings: Settings, addrs: Sequence[tuple[str, int]]
) -> SyncProducer:
    """Blocks until the first metadata have come. Raises ClientError."""
    return SyncProducer(await new_async_producer(runtime, settings.derive(build_config), addrs))
