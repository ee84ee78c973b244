"""A record as a line of its file, with a checksum: JSON that a flipped bit left valid is damage all the same.

The checksum is of the line and not of the record: no model has it, and Parquet files, which have their own, lose it.
"""

import zlib

from pydantic_core import to_json

from harness.records.run import Record

KEY = b',"crc32":"'
"""What stands before the checksum, as the last key of the line's object."""
SUFFIX_BYTES = len(KEY) + 8 + len(b'"}')
"""How long the end of a line is that the checksum does not cover."""
DAMAGED = "damaged: the line does not fit its crc32"
CHECKSUM_SCHEMA = {
    "type": "string",
    "pattern": "^[0-9a-f]{8}$",
    "description": 'CRC-32 of the line\'s bytes up to the comma before `"crc32"`. Lines of older versions lack it.',
}
"""JSON Schema of the key."""


def encode_line(record: Record) -> bytes:
    """The record's line, its end included."""
    return with_checksum(to_json(record, inf_nan_mode="null"))


def with_checksum(json_object: bytes) -> bytes:
    """A line, its end included, of a JSON object that is not empty."""
    covered = json_object[:-1]
    return b'%b%b%08x"}\n' % (covered, KEY, zlib.crc32(covered))


def fits_checksum(line: bytes) -> bool:
    """Whether the line is as it was written, as far as it says so: true of one without a checksum.

    Space around the line is not part of it.
    """
    return all_fit_checksum(line.strip(b" \t\r\n") + b"\n")


def all_fit_checksum(lines: bytes) -> bool:
    """Whether each of these lines does, ends included: as fast as checksums are computed, for nothing is copied."""
    start, view = 0, memoryview(lines)
    while (end := lines.find(b"\n", start)) >= 0:
        covered = end - SUFFIX_BYTES
        if covered >= start and lines.startswith(KEY, covered):
            said = lines[covered + len(KEY) : end - 2]
            if said != b"%08x" % zlib.crc32(view[start:covered]):
                return False
        start = end + 1
    return True
