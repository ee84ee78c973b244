"""One a topic: gives messages their partition and hands them to its producer.

Source: Shopify/sarama v1.27.2 async_producer.go, IBM/sarama v1.60.1 async_producer.go (topicProducer).
"""

from typing import TYPE_CHECKING

from client.errors import ClientError
from client.golang import Channel, in_map_order
from client.profiles.sarama.breaker import Breaker
from client.profiles.sarama.message import ProducerMessage
from client.profiles.sarama.partition_producer import PartitionProducer
from client.profiles.sarama.partitioner import PARTITIONERS, ExplicitPartitioner

if TYPE_CHECKING:
    from client.profiles.sarama.async_producer import AsyncProducer


class TopicProducer:
    def __init__(self, parent: "AsyncProducer", topic: str) -> None:
        self._parent = parent
        self._topic = topic
        self._input: Channel[ProducerMessage] = Channel(parent.conf.channel_buffer_size)
        self._breaker = Breaker(parent.runtime, 3, 1, 10.0, name=f"breaker of {topic}")
        self._handlers: dict[int, Channel[ProducerMessage]] = {}
        self._partitioner = ExplicitPartitioner(PARTITIONERS[parent.conf.partitioner](parent.runtime.rng))

    @classmethod
    def start(cls, parent: "AsyncProducer", topic: str) -> Channel[ProducerMessage]:
        """Start a topic's producer. Returns its input."""
        tp = cls(parent, topic)
        parent.runtime.tasks.go(tp._dispatch(), f"producer/{topic}/dispatch")
        return tp._input

    async def _dispatch(self) -> None:
        async for msg in self._input:
            if msg.retries == 0:
                try:
                    await self._partition_message(msg)
                except ClientError as err:
                    await self._parent.return_error(msg, err)
                    continue
            handler = self._handlers.get(msg.partition)
            if handler is None:
                handler = PartitionProducer.start(self._parent, msg.topic, msg.partition)
                self._handlers[msg.partition] = handler
            await handler.send(msg)
        for _, handler in in_map_order(self._parent.runtime.rng, self._handlers):
            handler.close()

    async def _partition_message(self, msg: ProducerMessage) -> None:
        partitions: tuple[int, ...] = ()

        async def look_up() -> None:
            nonlocal partitions
            client = self._parent.client
            if self._partitioner.requires_consistency(msg):
                partitions = await client.partitions(msg.topic)
            else:
                partitions = await client.writable_partitions(msg.topic)

        await self._breaker.run(look_up)
        if not partitions:
            raise self._parent.conf.errors.kerror("ErrLeaderNotAvailable")
        choice = self._partitioner.partition(msg, len(partitions))
        if not 0 <= choice < len(partitions):
            raise self._parent.conf.errors.sentinel("ErrInvalidPartition")
        msg.partition = partitions[choice]
