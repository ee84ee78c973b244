"""Records as a partition's log keeps them."""

from client.wire.records import decode_batches
from harness.story import StoredRecord


def decode_log(batches: bytes) -> tuple[StoredRecord, ...]:
    """The records of a log's batches, in the order of their offsets. Raises RecordsError."""
    return tuple(
        StoredRecord(offset=batch.offset_of(record), key=record.key, value=record.value)
        for batch in decode_batches(batches)
        for record in batch.records
    )
