"""A partition's log: batches in the order of their offsets, appended by the leader, fenced by its epoch.

All replicas of a partition share one log: what one leader has acknowledged, the next one has. A leader that was
replaced and does not know it (paused, cut off) is refused at its next append. `MemoryLog` serves simulated worlds,
where every broker lives in one process; `file_log.FileLog` serves brokers that are processes of their own.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Protocol

from client.wire.batch_header import BatchHeader, assign_base_offset
from client.wire.records import Compression, decode_batch, read_header
from harness.brokers.embedded.producers import ProducerStates


class Fenced(Exception):
    """A higher epoch leads this partition: nothing of what was asked counts."""


class StorageError(Exception):
    """The log could not be written or read: a full disk, a removed folder."""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """Where a batch stands. `location` says where its bytes are: an index in memory, a position in a file."""

    base_offset: int
    next_offset: int
    max_timestamp_ms: int
    location: int
    size_bytes: int


class PartitionLog(Protocol):
    """What a broker needs of a log. Offsets start at 0; nothing is ever removed."""

    @property
    def end_offset(self) -> int:
        """The offset that the next record gets. Every record below it is acknowledged: it is the high watermark."""
        ...

    def become_leader(self, epoch: int) -> None:
        """Take over. From now on lower epochs are fenced. Raises Fenced where a higher one leads, StorageError."""
        ...

    def append(self, epoch: int, batch: bytes) -> int:
        """Append one batch, whose header and checksum were looked at; return the offset of its first record.

        A batch that an idempotent producer repeats is not appended again: its old offset comes back.
        Raises Fenced, SequenceError, StaleProducer, StorageError.
        """
        ...

    def read(self, offset: int, *, max_bytes: int, at_least_one: bool) -> bytes:
        """Whole batches from the one that holds `offset`, up to `max_bytes`; one at least where `at_least_one`."""
        ...

    def offset_at(self, timestamp_ms: int) -> tuple[int, int] | None:
        """Offset and time of the first record at or after a time; None where there is none.

        Within a compressed batch, which is not opened: the batch's first record and highest time.
        """
        ...

    def newest_record(self) -> tuple[int, int] | None:
        """Offset and time of the first record that has the highest time of all; None in an empty log."""
        ...


class PartitionLogs(Protocol):
    """All logs of a cluster, and what else its brokers share."""

    def of(self, topic: str, partition: int) -> PartitionLog: ...

    def next_producer_id(self) -> int:
        """A number that no broker of the cluster has given away before."""
        ...


class BatchIndex:
    """The index of a log: where each batch stands, and what producers have sent."""

    def __init__(self) -> None:
        self.stored: list[StoredBatch] = []
        self.producers = ProducerStates()
        self._bases: list[int] = []

    @property
    def end_offset(self) -> int:
        return self.stored[-1].next_offset if self.stored else 0

    def add(self, header: BatchHeader, location: int) -> int:
        """Take in a batch behind the last one; return its first offset."""
        base = self.end_offset
        self._bases.append(base)
        self.producers.record_append(header, base)
        next_offset = base + header.last_offset_delta + 1
        self.stored.append(StoredBatch(base, next_offset, header.max_timestamp_ms, location, header.size_bytes))
        return base

    def chosen(self, offset: int, *, max_bytes: int, at_least_one: bool) -> list[StoredBatch]:
        """The batches that `PartitionLog.read` returns."""
        if offset >= self.end_offset:
            return []
        chosen: list[StoredBatch] = []
        left = max_bytes
        for index in range(max(0, bisect_right(self._bases, offset) - 1), len(self.stored)):
            stored = self.stored[index]
            if stored.size_bytes > left and (chosen or not at_least_one):
                break
            chosen.append(stored)
            left -= stored.size_bytes
        return chosen


def first_record_at(batch: bytes, timestamp_ms: int) -> tuple[int, int]:
    """Offset and time of the batch's first record at or after a time that the batch reaches."""
    header = read_header(batch)
    if header.codec == Compression.NONE:
        opened = decode_batch(batch, header)
        for record in opened.records:
            if opened.timestamp_ms_of(record) >= timestamp_ms:
                return opened.offset_of(record), opened.timestamp_ms_of(record)
    return header.base_offset, header.max_timestamp_ms


class MemoryLog:
    """A log that every simulated broker of a cluster shares. See PartitionLog."""

    def __init__(self) -> None:
        self._index = BatchIndex()
        self._kept: list[bytes] = []
        self._epoch = -1

    @property
    def end_offset(self) -> int:
        return self._index.end_offset

    def become_leader(self, epoch: int) -> None:
        self._check(epoch)
        self._epoch = epoch

    def append(self, epoch: int, batch: bytes) -> int:
        self._check(epoch)
        header = read_header(batch)
        duplicate_offset = self._index.producers.duplicate_offset(header)
        if duplicate_offset is not None:
            return duplicate_offset
        base = self._index.add(header, len(self._kept))
        self._kept.append(assign_base_offset(batch, base_offset=base, partition_leader_epoch=epoch))
        return base

    def read(self, offset: int, *, max_bytes: int, at_least_one: bool) -> bytes:
        chosen = self._index.chosen(offset, max_bytes=max_bytes, at_least_one=at_least_one)
        return b"".join(self._kept[s.location] for s in chosen)

    def offset_at(self, timestamp_ms: int) -> tuple[int, int] | None:
        found = next((s for s in self._index.stored if s.max_timestamp_ms >= timestamp_ms), None)
        return None if found is None else first_record_at(self._kept[found.location], timestamp_ms)

    def newest_record(self) -> tuple[int, int] | None:
        found = max(self._index.stored, key=lambda s: s.max_timestamp_ms, default=None)
        return None if found is None else first_record_at(self._kept[found.location], found.max_timestamp_ms)

    def _check(self, epoch: int) -> None:
        if epoch < self._epoch:
            raise Fenced(f"epoch {epoch}: epoch {self._epoch} leads")


class MemoryLogs:
    """The logs of one simulated cluster: hand the same object to all its brokers."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, int], MemoryLog] = {}
        self._producer_ids = 0

    def of(self, topic: str, partition: int) -> MemoryLog:
        return self._logs.setdefault((topic, partition), MemoryLog())

    def next_producer_id(self) -> int:
        self._producer_ids += 1
        return self._producer_ids
