"""The messages of one request, by topic and partition. Source: Shopify/sarama v1.27.2 produce_set.go."""

import asyncio
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from client.golang import in_map_order
from client.profiles.sarama.config import Config
from client.profiles.sarama.message import ProducerMessage
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.records import Record, encode_batch

_MAX_REQUEST_BYTES = 100 * 1024 * 1024
_RECORD_BATCH_OVERHEAD_BYTES = 49


class _PartitionSet:
    __slots__ = ("buffer_bytes", "first_timestamp_ms", "msgs", "records")

    def __init__(self, first_timestamp_ms: int) -> None:
        self.first_timestamp_ms = first_timestamp_ms
        self.msgs: list[ProducerMessage] = []
        self.records: list[Record] = []
        self.buffer_bytes = 0


class PartitionMessages(NamedTuple):
    """What a set holds for one partition."""

    topic: str
    partition: int
    msgs: list[ProducerMessage]


class ProduceSet:
    """Records are stamped with the loop's clock: in the simulation and in a cell there is no other."""

    def __init__(self, conf: Config, rng: Random) -> None:
        self._conf = conf
        self._rng = rng
        self._msgs: dict[str, dict[int, _PartitionSet]] = {}
        self._buffer_bytes = 0
        self._buffer_count = 0

    def add(self, msg: ProducerMessage) -> None:
        timestamp_ms = int(asyncio.get_running_loop().time() * 1000)
        partitions = self._msgs.setdefault(msg.topic, {})
        size = 0
        one = partitions.get(msg.partition)
        if one is None:
            one = partitions[msg.partition] = _PartitionSet(timestamp_ms)
            size = _RECORD_BATCH_OVERHEAD_BYTES
        size += msg.byte_size()
        one.records.append(
            Record(
                offset_delta=len(one.records),
                timestamp_delta_ms=timestamp_ms - one.first_timestamp_ms,
                key=msg.key,
                value=msg.value,
            )
        )
        one.msgs.append(msg)
        one.buffer_bytes += size
        self._buffer_bytes += size
        self._buffer_count += 1

    def build_request(self) -> ProduceRequest:
        return ProduceRequest(
            acks=self._conf.required_acks,
            timeout_ms=self._conf.timeout_ms,
            topic_data=tuple(
                TopicProduceData(
                    name=topic,
                    partition_data=tuple(
                        PartitionProduceData(
                            index=partition,
                            records=encode_batch(one.records, base_timestamp_ms=one.first_timestamp_ms),
                        )
                        for partition, one in in_map_order(self._rng, partitions)
                    ),
                )
                for topic, partitions in in_map_order(self._rng, self._msgs)
            ),
        )

    def each_partition(self) -> Iterator[PartitionMessages]:
        """In the order of Go's maps."""
        for topic, partitions in in_map_order(self._rng, self._msgs):
            for partition, one in in_map_order(self._rng, partitions):
                yield PartitionMessages(topic, partition, one.msgs)

    def drop_partition(self, topic: str, partition: int) -> list[ProducerMessage]:
        """Take a partition's messages out."""
        one = self._msgs.get(topic, {}).pop(partition, None)
        if one is None:
            return []
        self._buffer_bytes -= one.buffer_bytes
        self._buffer_count -= len(one.msgs)
        return one.msgs

    def would_overflow(self, msg: ProducerMessage) -> bool:
        size = msg.byte_size()
        if self._buffer_bytes + size >= _MAX_REQUEST_BYTES - 10 * 1024:
            return True
        one = self._msgs.get(msg.topic, {}).get(msg.partition)
        if one is not None and one.buffer_bytes + size >= self._conf.max_message_bytes:
            return True
        return 0 < self._conf.flush_max_messages <= self._buffer_count

    def ready_to_flush(self) -> bool:
        if self.empty():
            return False
        conf = self._conf
        if conf.flush_frequency.seconds == 0 and conf.flush_bytes == 0 and conf.flush_messages == 0:
            return True
        return 0 < conf.flush_messages <= self._buffer_count or 0 < conf.flush_bytes <= self._buffer_bytes

    def empty(self) -> bool:
        return self._buffer_count == 0
