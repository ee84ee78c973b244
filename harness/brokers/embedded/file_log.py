"""Logs in files, for brokers that are processes: a kill loses nothing, a leader that was replaced is fenced.

What makes that true is the order of entries in the file: see `entries`. A process that has written to the file is
outlived by what it wrote; nothing is forced to the disk, because the machine does not lose its power in a test.
"""

import os
from pathlib import Path

from client.wire.batch_header import assign_base_offset, read_header
from harness.brokers.embedded.entries import EntryKind, decode_entries, encode_entry
from harness.brokers.embedded.log import BatchIndex, Fenced, StorageError, first_record_at

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


class FileLog:
    """A log in one file that all brokers' processes append to. See PartitionLog."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index = BatchIndex()
        self._epoch = -1
        self._read_to = 0
        try:
            self._file = os.open(path, _FLAGS, 0o600)
        except OSError as wrong:
            raise StorageError(f"{path}: {wrong.strerror}") from wrong

    def close(self) -> None:
        os.close(self._file)

    @property
    def end_offset(self) -> int:
        return self._index.end_offset

    def become_leader(self, epoch: int) -> None:
        self._refresh_to(self._write(encode_entry(EntryKind.EPOCH, epoch)))
        self._check(epoch)

    def append(self, epoch: int, batch: bytes) -> int:
        self._check(epoch)
        header = read_header(batch)
        duplicate_offset = self._index.producers.duplicate_offset(header)
        if duplicate_offset is not None:
            return duplicate_offset
        base = self._index.end_offset
        stamped = assign_base_offset(batch, base_offset=base, partition_leader_epoch=epoch)
        entry = encode_entry(EntryKind.BATCH, epoch, stamped)
        end = self._write(entry)
        if end - len(entry) == self._read_to:
            self._read_to = end
            return self._index.add(header, end - len(stamped))
        # Another process wrote in between: the entries before this one decide whether it counts.
        self._refresh_to(end)
        if not self._index.stored or self._index.stored[-1].location != end - len(stamped):
            raise Fenced(f"{self._path.name}: epoch {epoch}: epoch {self._epoch} leads")
        return base

    def read(self, offset: int, *, max_bytes: int, at_least_one: bool) -> bytes:
        chosen = self._index.chosen(offset, max_bytes=max_bytes, at_least_one=at_least_one)
        return b"".join(self._bytes(s.location, s.size_bytes) for s in chosen)

    def offset_at(self, timestamp_ms: int) -> tuple[int, int] | None:
        found = next((s for s in self._index.stored if s.max_timestamp_ms >= timestamp_ms), None)
        return None if found is None else first_record_at(self._bytes(found.location, found.size_bytes), timestamp_ms)

    def newest_record(self) -> tuple[int, int] | None:
        found = max(self._index.stored, key=lambda s: s.max_timestamp_ms, default=None)
        if found is None:
            return None
        return first_record_at(self._bytes(found.location, found.size_bytes), found.max_timestamp_ms)

    def refresh(self) -> None:
        """Take in what other processes have appended, for reading a log without leading it."""
        self._refresh_to(os.fstat(self._file).st_size)

    def _check(self, epoch: int) -> None:
        if epoch < self._epoch:
            raise Fenced(f"{self._path.name}: epoch {epoch}: epoch {self._epoch} leads")

    def _write(self, entry: bytes) -> int:
        """Append with one write; return the file's position behind it. A part that a full disk took stays, void."""
        try:
            written = os.write(self._file, entry)
        except OSError as wrong:
            raise StorageError(f"{self._path}: {wrong.strerror}") from wrong
        if written < len(entry):
            raise StorageError(f"{self._path}: the disk is full: {written} of {len(entry)} bytes were written")
        return os.lseek(self._file, 0, os.SEEK_CUR)

    def _refresh_to(self, end: int) -> None:
        data = self._bytes(self._read_to, end - self._read_to)
        for entry in decode_entries(data):
            if entry.kind is EntryKind.EPOCH:
                self._epoch = max(self._epoch, entry.epoch)
            elif entry.epoch == self._epoch:
                header = read_header(data, entry.body_start)
                # Two processes that believe in the same epoch: the first batch at an offset counts.
                if header.base_offset == self._index.end_offset:
                    self._index.add(header, self._read_to + entry.body_start)
        self._read_to = end

    def _bytes(self, location: int, size_bytes: int) -> bytes:
        parts = []
        while size_bytes > 0:
            part = os.pread(self._file, size_bytes, location)
            if not part:
                raise StorageError(f"{self._path}: {size_bytes} bytes are missing at {location}")
            parts.append(part)
            location += len(part)
            size_bytes -= len(part)
        return b"".join(parts)


class FileLogs:
    """The logs of a cluster in one folder, which must exist: every broker's process opens it for itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._logs: dict[tuple[str, int], FileLog] = {}

    def of(self, topic: str, partition: int) -> FileLog:
        found = self._logs.get((topic, partition))
        if found is None:
            found = self._logs[topic, partition] = FileLog(self._folder / f"{topic}-{partition}.log")
        return found

    def next_producer_id(self) -> int:
        """The file's size after one more byte: the kernel gives each of several processes another one."""
        path = self._folder / "producer-ids"
        try:
            file = os.open(path, _FLAGS, 0o600)
            try:
                os.write(file, b".")
                return os.lseek(file, 0, os.SEEK_CUR)
            finally:
                os.close(file)
        except OSError as wrong:
            raise StorageError(f"{path}: {wrong.strerror}") from wrong

    def close(self) -> None:
        for log in self._logs.values():
            log.close()


def read_valid_batches(folder: Path, topic: str, partition: int) -> bytes:
    """Every batch that counts, to judge what was lost or duplicated. Raises StorageError."""
    path = folder / f"{topic}-{partition}.log"
    if not path.exists():
        return b""
    log = FileLog(path)
    try:
        log.refresh()
        return log.read(0, max_bytes=path.stat().st_size, at_least_one=True)
    finally:
        log.close()
