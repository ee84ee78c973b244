"""The 61 bytes at the start of every record batch v2: all that a broker reads of a batch without its records.

Source: https://kafka.apache.org/documentation/#recordbatch, apache/kafka DefaultRecordBatch.java.
"""

import struct
from dataclasses import dataclass

from crc32c import crc32c

from client.wire.compression import Compression
from client.wire.exceptions import WireError

_LAYOUT = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = _LAYOUT.size
_BEFORE_LENGTH_ENDS = 12
_CRC_FROM = 21
_CRC = struct.Struct(">I")
_STAMP_OFFSET = struct.Struct(">q")
_STAMP_EPOCH = struct.Struct(">i")
_MAGIC_AT = 16
_EPOCH_AT = 12

LOG_APPEND_TIME = 1 << 3
TRANSACTIONAL = 1 << 4
CONTROL = 1 << 5


class RecordsError(WireError):
    """A record batch that is malformed, or that cannot be read here.

    `reason` is one of `truncated`, `magic`, `crc`, `compression`, `malformed`; `offset` counts bytes from the start of
    the data that was handed in.
    """

    def __init__(self, reason: str, offset: int, text: str) -> None:
        super().__init__(f"record batch at byte {offset}: {text}")
        self.reason = reason
        self.offset = offset


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHeader:
    """The fields in the order of the wire. `length` counts what follows it, so a batch has 12 bytes more.

    Times are milliseconds of Unix time. `last_offset_delta` + 1 is the number of offsets that the batch takes.
    """

    base_offset: int
    length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        return self.length + _BEFORE_LENGTH_ENDS

    @property
    def next_offset(self) -> int:
        """The offset behind the batch's last record."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """The codec's number; see Compression."""
        return self.attributes & 0x07

    @property
    def codec_name(self) -> str:
        """`gzip`; or `codec 7` for an unknown number."""
        return Compression(self.codec).name.lower() if self.codec in set(Compression) else f"codec {self.codec}"


def read_header(data: bytes, offset: int = 0) -> BatchHeader:
    """The header of the batch that begins at `offset`, which must be there whole. Raises RecordsError.

    The checksum is not looked at: see `check_crc`.
    """
    left = len(data) - offset
    if left > _MAGIC_AT and data[offset + _MAGIC_AT] != 2:
        magic = data[offset + _MAGIC_AT]
        raise RecordsError("magic", offset, f"magic {magic} is not supported, only 2 (Kafka 0.11 and later)")
    if left < HEADER_BYTES:
        raise RecordsError("truncated", offset, f"{left} of {HEADER_BYTES} bytes of its header")
    header = _unpack(data, offset)
    if header.length < HEADER_BYTES - _BEFORE_LENGTH_ENDS:
        raise RecordsError("malformed", offset, f"a length of {header.length} is below that of an empty batch")
    if header.size_bytes > left:
        raise RecordsError("truncated", offset, f"{left} of {header.size_bytes} bytes")
    if header.last_offset_delta < 0 or header.record_count < 0:
        counts = f"{header.record_count} records, last offset delta {header.last_offset_delta}"
        raise RecordsError("malformed", offset, counts)
    return header


def _unpack(data: bytes, offset: int) -> BatchHeader:
    (base, length, epoch, magic, crc, attributes, last, first_ms, max_ms, pid, pid_epoch, sequence, count) = (
        _LAYOUT.unpack_from(data, offset)
    )
    return BatchHeader(
        base_offset=base,
        length=length,
        partition_leader_epoch=epoch,
        magic=magic,
        crc=crc,
        attributes=attributes,
        last_offset_delta=last,
        base_timestamp_ms=first_ms,
        max_timestamp_ms=max_ms,
        producer_id=pid,
        producer_epoch=pid_epoch,
        base_sequence=sequence,
        record_count=count,
    )


def write_header(header: BatchHeader, records: bytes | bytearray) -> bytes:
    """A whole batch: the header with length and checksum computed from `records`. Raises ValueError for a misfit."""
    length = HEADER_BYTES - _BEFORE_LENGTH_ENDS + len(records)
    try:
        batch = bytearray(
            _LAYOUT.pack(
                header.base_offset,
                length,
                header.partition_leader_epoch,
                header.magic,
                0,
                header.attributes,
                header.last_offset_delta,
                header.base_timestamp_ms,
                header.max_timestamp_ms,
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
                header.record_count,
            )
        )
    except struct.error as wrong:
        raise ValueError(f"record batch: {wrong}") from wrong
    batch += records
    _CRC.pack_into(batch, _CRC_FROM - _CRC.size, crc32c(bytes(batch[_CRC_FROM:])))
    return bytes(batch)


def check_crc(data: bytes, header: BatchHeader, offset: int = 0) -> None:
    """Raises RecordsError where the batch's bytes are not those that its CRC-32C was computed from."""
    found = crc32c(data[offset + _CRC_FROM : offset + header.size_bytes])
    if found != header.crc:
        raise RecordsError("crc", offset, f"CRC-32C is {found:#010x}, its header says {header.crc:#010x}")


def assign_base_offset(batch: bytes, *, base_offset: int, partition_leader_epoch: int) -> bytes:
    """The batch as the log has it. What the leader sets comes before the checksum, which does not cover it."""
    return (
        _STAMP_OFFSET.pack(base_offset)
        + batch[_STAMP_OFFSET.size : _EPOCH_AT]
        + _STAMP_EPOCH.pack(partition_leader_epoch)
        + batch[_EPOCH_AT + _STAMP_EPOCH.size :]
    )
