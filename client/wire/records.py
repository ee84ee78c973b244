"""Record batches of magic 2: records to bytes and back. Our own, because what a broker refuses must be said exactly.

    data = encode_batch([Record(value=b"hello")], base_timestamp_ms=1_700_000_000_000)
    for batch in decode_batches(data): ...

Source: https://kafka.apache.org/documentation/#messageformat, apache/kafka DefaultRecord.java.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from client.wire.batch_header import (
    CONTROL,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    RecordsError,
    assign_base_offset,
    check_crc,
    read_header,
    write_header,
)
from client.wire.compression import Compression, CompressionError, Compressor, decompress, uncompressed
from client.wire.exceptions import MalformedDataError
from client.wire.varints import read_varint, write_varint

__all__ = [
    "CONTROL",
    "HEADER_BYTES",
    "LOG_APPEND_TIME",
    "TRANSACTIONAL",
    "BatchHeader",
    "Compression",
    "Record",
    "RecordBatch",
    "RecordsError",
    "assign_base_offset",
    "batch_headers",
    "check_crc",
    "decode_batch",
    "decode_batches",
    "encode_batch",
    "read_header",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record in its batch: offset and time are relative to the batch's base. `attributes` are unused by Kafka."""

    offset_delta: int = 0
    timestamp_delta_ms: int = 0
    key: bytes | None = None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    attributes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBatch:
    """A batch with its records; `offset_of` and `timestamp_ms_of` give absolute numbers."""

    header: BatchHeader
    records: tuple[Record, ...]

    def offset_of(self, record: Record) -> int:
        return self.header.base_offset + record.offset_delta

    def timestamp_ms_of(self, record: Record) -> int:
        if self.header.attributes & LOG_APPEND_TIME:
            return self.header.max_timestamp_ms
        return self.header.base_timestamp_ms + record.timestamp_delta_ms


_UNCOMPRESSED = uncompressed()


def encode_batch(
    records: Sequence[Record],
    *,
    base_timestamp_ms: int,
    max_timestamp_ms: int | None = None,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
    attributes: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    compressor: Compressor = _UNCOMPRESSED,
) -> bytes:
    """A batch. Records are written as they stand, so their offset deltas must count up from 0.
    `max_timestamp_ms` None: computed from them. `attributes` are those beside the codec, which the compressor gives.

    Raises ValueError for no records, offset deltas out of order, or a number that does not fit.
    """
    if [r.offset_delta for r in records] != list(range(len(records))) or not records:
        raise ValueError("a batch has records whose offset deltas are 0, 1, 2, ...")
    if attributes & 0x07:
        raise ValueError("the codec in the attributes is the compressor's to give")
    body = bytearray()
    for record in records:
        _write_record(body, record)
    if max_timestamp_ms is None:
        max_timestamp_ms = base_timestamp_ms + max(r.timestamp_delta_ms for r in records)
    header = BatchHeader(
        base_offset=base_offset,
        length=0,
        partition_leader_epoch=partition_leader_epoch,
        magic=2,
        crc=0,
        attributes=attributes | compressor.codec,
        last_offset_delta=len(records) - 1,
        base_timestamp_ms=base_timestamp_ms,
        max_timestamp_ms=max_timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    if compressor.codec == Compression.NONE:
        return write_header(header, body)
    return write_header(header, compressor.compress(bytes(body)))


def batch_headers(data: bytes, *, allow_truncated: bool = False) -> Iterator[tuple[int, BatchHeader]]:
    """Each batch's first byte and header, checksums verified, in order. Raises RecordsError.

    `allow_truncated`: a last batch that is not whole is left out, as in a fetch response, where the broker cuts at a
    size.
    """
    offset = 0
    while offset < len(data):
        try:
            header = read_header(data, offset)
        except RecordsError as wrong:
            if allow_truncated and wrong.reason == "truncated":
                return
            raise
        check_crc(data, header, offset)
        yield offset, header
        offset += header.size_bytes


def decode_batches(data: bytes, *, allow_truncated: bool = False) -> tuple[RecordBatch, ...]:
    """Every batch in a row, as `batch_headers` finds them. Raises RecordsError."""
    return tuple(
        decode_batch(data, header, offset) for offset, header in batch_headers(data, allow_truncated=allow_truncated)
    )


def decode_batch(data: bytes, header: BatchHeader, offset: int = 0) -> RecordBatch:
    """The records of the batch at `offset`, whose header was read. Raises RecordsError."""
    if header.codec == Compression.NONE:
        return _decode_records(data, header, offset, offset + HEADER_BYTES, offset + header.size_bytes)
    try:
        opened = decompress(header.codec, data[offset + HEADER_BYTES : offset + header.size_bytes])
    except CompressionError as wrong:
        raise RecordsError("compression", offset, str(wrong)) from wrong
    return _decode_records(opened, header, offset, 0, len(opened))


def _decode_records(data: bytes, header: BatchHeader, offset: int, position: int, end: int) -> RecordBatch:
    """The records that stand in `data` from `position` to `end`; errors name the batch at `offset`."""
    # A record takes seven bytes at least: a higher count is wrong, and is refused before memory is allocated.
    if header.record_count * 7 > end - position:
        raise RecordsError("malformed", offset, f"{header.record_count} records in {end - position} bytes")
    records = []
    try:
        for _ in range(header.record_count):
            record, position = _read_record(data, position, end)
            records.append(record)
    except MalformedDataError as wrong:
        raise RecordsError(
            "malformed", offset, f"record {len(records)} at byte {wrong.offset}: {wrong.reason}"
        ) from wrong
    if position != end:
        raise RecordsError("malformed", offset, f"{end - position} bytes behind its {header.record_count} records")
    return RecordBatch(header=header, records=tuple(records))


def _write_record(out: bytearray, record: Record) -> None:
    if not -128 <= record.attributes < 128:
        raise ValueError(f"record attributes of {record.attributes} do not fit into 8 bits")
    body = bytearray([record.attributes & 0xFF])
    write_varint(body, record.timestamp_delta_ms)
    write_varint(body, record.offset_delta)
    _write_bytes(body, record.key)
    _write_bytes(body, record.value)
    write_varint(body, len(record.headers))
    for key, value in record.headers:
        _write_bytes(body, key.encode())
        _write_bytes(body, value)
    write_varint(out, len(body))
    out += body


def _read_record(data: bytes, position: int, end: int) -> tuple[Record, int]:
    start = position
    length, position = read_varint(data, position, end)
    record_end = position + length
    if length < 1 or record_end > end:
        raise MalformedDataError(start, f"a record of {length} bytes where {end - position} are left")
    attributes = data[position] - (256 if data[position] > 127 else 0)
    timestamp_delta_ms, position = read_varint(data, position + 1, record_end)
    offset_delta, position = read_varint(data, position, record_end)
    key, position = _read_bytes(data, position, record_end)
    value, position = _read_bytes(data, position, record_end)
    count_at = position
    count, position = read_varint(data, position, record_end)
    if not 0 <= count <= record_end - position:
        raise MalformedDataError(count_at, f"{count} headers in {record_end - position} bytes")
    headers = []
    for _ in range(count):
        name_at = position
        name, position = _read_bytes(data, position, record_end)
        if name is None:
            raise MalformedDataError(name_at, "a header without a name")
        header_value, position = _read_bytes(data, position, record_end)
        try:
            headers.append((name.decode(), header_value))
        except UnicodeDecodeError:
            raise MalformedDataError(name_at, "a header's name is no UTF-8") from None
    if position != record_end:
        raise MalformedDataError(position, f"{record_end - position} bytes are left over in the record")
    record = Record(
        offset_delta=offset_delta,
        timestamp_delta_ms=timestamp_delta_ms,
        key=key,
        value=value,
        headers=tuple(headers),
        attributes=attributes,
    )
    return record, position


def _write_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        write_varint(out, -1)
        return
    write_varint(out, len(value))
    out += value


def _read_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    length, start = read_varint(data, position, end)
    if length == -1:
        return None, start
    if length < 0 or start + length > end:
        raise MalformedDataError(position, f"a length of {length} where {end - start} bytes are left")
    return data[start : start + length], start + length
