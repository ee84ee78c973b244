"""A program around the AsyncProducer as its documentation shows one: it writes to Input, reads Successes and Errors.

A send's end is seen when its message comes out of either. Source: Shopify/sarama v1.27.2 async_producer.go, IBM/sarama
v1.60.1 async_producer.go.
"""

from collections.abc import Sequence

from client.errors import ClientError
from client.operations import Send
from client.profiles.sarama.async_producer import AsyncProducer, new_async_producer
from client.profiles.sarama.config import build_config
from client.profiles.sarama.delivery_tracker import DeliveryTracker
from client.profiles.sarama.message import new_message
from client.profiles.sarama.producer import RecordMetadata
from client.runtime import ClientRuntime
from client.settings import Settings


class AsyncProducerAdapter:
    """Carries out `client.profiles.sarama.producer.Producer`."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._tracker = DeliveryTracker(producer)

    async def send(self, operation: str, message: Send) -> RecordMetadata:
        """An error is what the program finds in Errors: a ProducerError, which says the topic and wraps the cause."""
        msg = new_message(operation, message)
        failed = await self._tracker.send_and_wait(msg)
        if failed is not None:
            text = f"kafka: Failed to produce message to topic {msg.topic}: {failed.err.text}"
            raise ClientError(failed.err.name, text)
        return RecordMetadata(msg.partition, msg.offset)

    async def close(self) -> None:
        """Returns when everything in flight has ended."""
        await self._tracker.close()


async def new_async_producer_adapter(
    runtime: ClientRuntime, settings: Settings, addrs: Sequence[tuple[str, int]]
) -> AsyncProducerAdapter:
    """Blocks until the first metadata have come. Raises ClientError."""
    return AsyncProducerAdapter(await new_async_producer(runtime, settings.derive(build_config), addrs))
