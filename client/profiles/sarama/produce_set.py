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
    """One partition's batch. Producer id, epoch and first sequence number are fixed when the batch is begun."""

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
    """The encoded batch: a retry sends the same bytes."""


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
        batch = partitions.get(msg.partition)
        if batch is None:
            batch = partitions[msg.partition] = PartitionSet(
                topic=msg.topic,
                partition=msg.partition,
                first_timestamp_ms=timestamp_ms,
                producer_id=self._producer_id,
                producer_epoch=self.producer_epoch,
                first_sequence=msg.sequence_number if self._conf.idempotent else 0,
            )
            size = _RECORD_BATCH_OVERHEAD_BYTES
        if self._conf.idempotent and msg.sequence_number < batch.first_sequence:
            raise ClientError("errors.errorString", "assertion failed: message out of sequence added to a batch")
        size += msg.byte_size()
        batch.records.append(
            Record(
                offset_delta=len(batch.records),
                timestamp_delta_ms=timestamp_ms - batch.first_timestamp_ms,
                key=msg.key,
                value=msg.value,
            )
        )
        batch.msgs.append(msg)
        batch.buffer_bytes += size
        self._buffer_bytes += size
        self._buffer_count += 1

    def add_batch(self, batch: PartitionSet) -> None:
        """Take over a whole batch of another set."""
        self._sets.setdefault(batch.topic, {})[batch.partition] = batch
        self._buffer_bytes += batch.buffer_bytes
        self._buffer_count += len(batch.msgs)

    def build_request(self) -> ProduceRequest:
        return ProduceRequest(
            acks=self._conf.required_acks,
            timeout_ms=self._conf.timeout_ms,
            topic_data=tuple(
                TopicProduceData(
                    name=topic,
                    partition_data=tuple(
                        PartitionProduceData(index=partition, records=self._encode(batch))
                        for partition, batch in in_map_order(self._rng, partitions)
                    ),
                )
                for topic, partitions in in_map_order(self._rng, self._sets)
                if partitions
            ),
        )

    def _encode(self, batch: PartitionSet) -> bytes:
        if batch.encoded is None:
            batch.encoded = encode_batch(
                batch.records,
                base_timestamp_ms=batch.first_timestamp_ms,
                max_timestamp_ms=None if self._conf.release.sets_max_timestamp else -1,
                partition_leader_epoch=0,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                base_sequence=batch.first_sequence,
                compressor=self._conf.compressor,
            )
        return batch.encoded

    def each_partition(self) -> Iterator[PartitionSet]:
        """In the order of Go's maps."""
        for _, partitions in in_map_order(self._rng, self._sets):
            for _, batch in in_map_order(self._rng, partitions):
                yield batch

    def drop_partition(self, topic: str, partition: int) -> list[ProducerMessage]:
        """Take a partition's messages out."""
        batch = self._sets.get(topic, {}).pop(partition, None)
        if batch is None:
            return []
        self._buffer_bytes -= batch.buffer_bytes
        self._buffer_count -= len(batch.msgs)
        return batch.msgs

    def split_off_partitions(self, wanted: Callable[[str, int], bool]) -> "ProduceSet | None":
        """Move the wanted partitions into a set of their own; None where none is wanted."""
        taken = ProduceSet(self._conf, self._rng, self._producer_id, self.producer_epoch)
        for batch in tuple(self.each_partition()):
            if wanted(batch.topic, batch.partition):
                self.drop_partition(batch.topic, batch.partition)
                taken.add_batch(batch)
        return None if taken.empty() else taken

    def would_overflow(self, msg: ProducerMessage) -> bool:
        size = msg.byte_size()
        if self._buffer_bytes + size >= _MAX_REQUEST_BYTES - 10 * 1024:
            return True
        batch = self._sets.get(msg.topic, {}).get(msg.partition)
        if batch is not None and batch.buffer_bytes + size >= self._conf.max_message_bytes:
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
