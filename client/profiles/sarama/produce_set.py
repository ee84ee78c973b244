"""The messages of one request, by topic and partition.

Source: Shopify/sarama v1.27.2 produce_set.go, IBM/sarama v1.60.1 produce_set.go.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from client.errors import ClientError
from client.golang import in_map_order
from client.profiles.sarama.config import Config
from client.profiles.sarama.message import ProducerMessage
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.records import Record, encode_batch

_MAX_REQUEST_BYTES = 100 * 1024 * 1024
_RECORD_BATCH_OVERHEAD_BYTES = 49


@dataclass(slots=True, kw_only=True, eq=False)
class PartitionSet:
    """One partition's batch. Who the producer is and its first number stay what they were when it was begun."""

    topic: str
    partition: int
    first_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    first_sequence: int
    msgs: list[ProducerMessage] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    buffer_bytes: int = 0
    encoded: bytes | None = None
    """As it was sent: what is sent again has the same bytes."""


class ProduceSet:
    """Records are stamped with the loop's clock: in the simulation and in a cell there is no other."""

    def __init__(self, conf: Config, rng: Random, producer_id: int, producer_epoch: int) -> None:
        self.producer_epoch = producer_epoch
        self._producer_id = producer_id
        self._conf = conf
        self._rng = rng
        self._sets: dict[str, dict[int, PartitionSet]] = {}
        self._buffer_bytes = 0
        self._buffer_count = 0

    def add(self, msg: ProducerMessage) -> None:
        """Raises ClientError for a message whose number is below that of its batch's first one."""
        timestamp_ms = int(asyncio.get_running_loop().time() * 1000)
        partitions = self._sets.setdefault(msg.topic, {})
        size = 0
        one = partitions.get(msg.partition)
        if one is None:
            one = partitions[msg.partition] = PartitionSet(
                topic=msg.topic,
                partition=msg.partition,
                first_timestamp_ms=timestamp_ms,
                producer_id=self._producer_id,
                producer_epoch=self.producer_epoch,
                first_sequence=msg.sequence_number if self._conf.idempotent else 0,
            )
            size = _RECORD_BATCH_OVERHEAD_BYTES
        if self._conf.idempotent and msg.sequence_number < one.first_sequence:
            raise ClientError("errors.errorString", "assertion failed: message out of sequence added to a batch")
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

    def put(self, one: PartitionSet) -> None:
        """Take over a whole batch of another set."""
        self._sets.setdefault(one.topic, {})[one.partition] = one
        self._buffer_bytes += one.buffer_bytes
        self._buffer_count += len(one.msgs)

    def build_request(self) -> ProduceRequest:
        return ProduceRequest(
            acks=self._conf.required_acks,
            timeout_ms=self._conf.timeout_ms,
            topic_data=tuple(
                TopicProduceData(
                    name=topic,
                    partition_data=tuple(
                        PartitionProduceData(index=partition, records=self._encoded(one))
                        for partition, one in in_map_order(self._rng, partitions)
                    ),
                )
                for topic, partitions in in_map_order(self._rng, self._sets)
                if partitions
            ),
        )

    def _encoded(self, one: PartitionSet) -> bytes:
        if one.encoded is None:
            one.encoded = encode_batch(
                one.records,
                base_timestamp_ms=one.first_timestamp_ms,
                max_timestamp_ms=None if self._conf.release.sets_max_timestamp else -1,
                partition_leader_epoch=0,
                producer_id=one.producer_id,
                producer_epoch=one.producer_epoch,
                base_sequence=one.first_sequence,
                compressor=self._conf.compressor,
            )
        return one.encoded

    def each_partition(self) -> Iterator[PartitionSet]:
        """In the order of Go's maps."""
        for _, partitions in in_map_order(self._rng, self._sets):
            for _, one in in_map_order(self._rng, partitions):
                yield one

    def drop_partition(self, topic: str, partition: int) -> list[ProducerMessage]:
        """Take a partition's messages out."""
        one = self._sets.get(topic, {}).pop(partition, None)
        if one is None:
            return []
        self._buffer_bytes -= one.buffer_bytes
        self._buffer_count -= len(one.msgs)
        return one.msgs

    def take_partitions(self, wanted: Callable[[str, int], bool]) -> "ProduceSet | None":
        """Those partitions out of this set in a set of their own; None where none is wanted."""
        taken = ProduceSet(self._conf, self._rng, self._producer_id, self.producer_epoch)
        for one in tuple(self.each_partition()):
            if wanted(one.topic, one.partition):
                self.drop_partition(one.topic, one.partition)
                taken.put(one)
        return None if taken.empty() else taken

    def would_overflow(self, msg: ProducerMessage) -> bool:
        size = msg.byte_size()
        if self._buffer_bytes + size >= _MAX_REQUEST_BYTES - 10 * 1024:
            return True
        one = self._sets.get(msg.topic, {}).get(msg.partition)
        if one is not None and one.buffer_bytes + size >= self._conf.max_message_bytes:
            return True
        return 0 < self._conf.flush_max_messages <= self._buffer_count

    def ready_to_flush(self) -> bool:
        if self._buffer_count == 0:
            return False
        conf = self._conf
        if conf.flush_frequency.seconds == 0 and conf.flush_bytes == 0 and conf.flush_messages == 0:
            return True
        return 0 < conf.flush_messages <= self._buffer_count or 0 < conf.flush_bytes <= self._buffer_bytes

    def empty(self) -> bool:
        return self._buffer_count == 0
