"""The producer whose send blocks until the message's fate is known.

Source: Shopify/sarama v1.27.2 sync_producer.go, IBM/sarama v1.60.1 sync_producer.go.
"""

from collections.abc import Sequence

from client.profiles.contract import Acknowledged
from client.profiles.sarama.async_producer import AsyncProducer, new_async_producer
from client.profiles.sarama.config import config_of
from client.profiles.sarama.message import ProducerMessage
from client.profiles.sarama.outcomes import Outcomes
from client.settings import Settings
from client.surroundings import Surroundings


class SyncProducer:
    """Carries out `client.profiles.contract.Producer`."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._outcomes = Outcomes(producer)

    async def send(
        self, operation: str, topic: str, partition: int | None, key: bytes | None, value: bytes
    ) -> Acknowledged:
        msg = ProducerMessage(operation=operation, topic=topic, named_partition=partition, key=key, value=value)
        failed = await self._outcomes.of(msg)
        if failed is not None:
            raise failed.err
        return Acknowledged(msg.partition, msg.offset)

    async def close(self) -> None:
        """Returns when everything in flight has ended."""
        await self._outcomes.close()


async def new_sync_producer(
    surroundings: Surroundings, settings: Settings, addrs: Sequence[tuple[str, int]]
) -> SyncProducer:
    """Blocks until the first metadata have come. Raises ClientError."""
    return SyncProducer(await new_async_producer(surroundings, settings.once(config_of), addrs))
