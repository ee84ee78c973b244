"""Readers and writers of Kafka's primitive types: one pair for each kind that a schema names.

A reader takes bytes and a position and returns the value and the position behind it; it raises Malformed and nothing
else. No length is believed before it is known to fit into what is left. A writer appends to a bytearray and raises
whatever Python raises for a wrong value: `client.wire.codec` turns that into an error that names the field.
Source: https://kafka.apache.org/protocol#protocol_types
"""

import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

from client.wire.exceptions import MalformedDataError

Read = Callable[[bytes, int], tuple[Any, int]]
Write = Callable[[bytearray, Any], None]

FIXED_SIZE_FORMATS: dict[str, str] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float64": "d",
    "error_code": "h",
    "timedelta_i32": "i",
    "timedelta_i64": "q",
    "datetime_i64": "q",
}
"""Kinds of a fixed size, with their struct letter: neighbours are read and written in one step."""


def truncated_error(position: int, wanted: int, data: bytes) -> MalformedDataError:
    return MalformedDataError(position, f"{wanted} bytes expected, {max(0, len(data) - position)} left")


def read_uvarint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned 32-bit number, seven bits a byte, the lowest first."""
    try:
        byte = data[position]
        if byte < 0x80:
            return byte, position + 1
        value = byte & 0x7F
        for index in range(1, 5):
            byte = data[position + index]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                break
        else:
            raise MalformedDataError(position, "a varint of more than 5 bytes")
    except IndexError:
        raise MalformedDataError(position, "a varint is cut") from None
    if value > 0xFFFFFFFF:
        raise MalformedDataError(position, "a varint above 32 bits")
    return value, position + index + 1


def write_uvarint(out: bytearray, value: int) -> None:
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def length_reader(size: str) -> Read:
    """Reads a length: `h` and `i` are plain numbers, `varint` is compact (the length plus one). -1 stands for null."""
    if size == "varint":

        def read_compact(data: bytes, position: int) -> tuple[int, int]:
            value, position = read_uvarint(data, position)
            return value - 1, position

        return read_compact
    form = struct.Struct(">" + size)

    def read_plain(data: bytes, position: int) -> tuple[int, int]:
        try:
            (length,) = form.unpack_from(data, position)
        except struct.error:
            raise truncated_error(position, form.size, data) from None
        return length, position + form.size

    return read_plain


def length_writer(size: str) -> Write:
    """Writes a length; None is null."""
    if size == "varint":

        def write_compact(out: bytearray, length: int | None) -> None:
            write_uvarint(out, 0 if length is None else length + 1)

        return write_compact
    form = struct.Struct(">" + size)

    def write_plain(out: bytearray, length: int | None) -> None:
        out += form.pack(-1 if length is None else length)

    return write_plain


def text(*, nullable: bool, flexible: bool) -> tuple[Read, Write]:
    """UTF-8 with its length in bytes before it."""
    read_bytes, write_bytes = length_prefixed_bytes(nullable=nullable, size="varint" if flexible else "h")

    def read(data: bytes, position: int) -> tuple[str | None, int]:
        raw, end = read_bytes(data, position)
        if raw is None:
            return None, end
        try:
            return str(raw, "utf-8"), end
        except UnicodeDecodeError as wrong:
            raise MalformedDataError(end - len(raw) + wrong.start, "text that is no UTF-8") from None

    def write(out: bytearray, value: str | None) -> None:
        write_bytes(out, None if value is None else value.encode())

    return read, write


def length_prefixed_bytes(*, nullable: bool, size: str) -> tuple[Read, Write]:
    """Bytes with their length before them."""
    read_length = length_reader(size)
    write_length = length_writer(size)

    def read(data: bytes, position: int) -> tuple[bytes | None, int]:
        length, start = read_length(data, position)
        if length < 0:
            if length == -1 and nullable:
                return None, start
            raise MalformedDataError(position, f"a length of {length} where there must be a value")
        end = start + length
        if end > len(data):
            raise truncated_error(start, length, data)
        return data[start:end], end

    def write(out: bytearray, value: bytes | None) -> None:
        if value is None:
            if not nullable:
                raise TypeError("null where there must be a value")
            write_length(out, None)
        else:
            write_length(out, len(value))
            out += value

    return read, write


def read_uuid(data: bytes, position: int) -> tuple[UUID | None, int]:
    """Sixteen bytes; all of them zero is no id."""
    end = position + 16
    if end > len(data):
        raise truncated_error(position, 16, data)
    raw = data[position:end]
    return (UUID(bytes=raw) if any(raw) else None), end


def write_uuid(out: bytearray, value: UUID | None) -> None:
    out += bytes(16) if value is None else value.bytes


def fixed(kind: str) -> tuple[Read, Write]:
    form = struct.Struct(">" + FIXED_SIZE_FORMATS[kind])

    def read(data: bytes, position: int) -> tuple[Any, int]:
        try:
            (value,) = form.unpack_from(data, position)
        except struct.error:
            raise truncated_error(position, form.size, data) from None
        return value, position + form.size

    def write(out: bytearray, value: Any) -> None:
        out += form.pack(value)

    return read, write


def primitive(kind: str, *, nullable: bool, flexible: bool) -> tuple[Read, Write]:
    """The pair for a kind. Raises KeyError for one that no schema has."""
    if kind == "string":
        return text(nullable=nullable, flexible=flexible)
    if kind in ("bytes", "records"):
        return length_prefixed_bytes(nullable=nullable, size="varint" if flexible else "i")
    if kind == "uuid":
        return read_uuid, write_uuid
    return fixed(kind)
