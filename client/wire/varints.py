"""Zig-zag varints, as record batches have them: small numbers of either sign in few bytes.

Source: https://protobuf.dev/programming-guides/encoding/#signed-ints, apache/kafka ByteUtils.java.
"""

from client.wire.exceptions import MalformedDataError

_VARLONG_BYTES = 10


def write_varint(out: bytearray, value: int) -> None:
    """Append a signed number of up to 64 bits. Raises ValueError beyond that."""
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{value} does not fit into 64 bits")
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)


def read_varint(data: bytes | memoryview, position: int, end: int) -> tuple[int, int]:
    """A signed number and the position behind it; nothing from `end` on is read. Raises Malformed."""
    value = 0
    for index in range(min(_VARLONG_BYTES, end - position)):
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if value >= 1 << 64:
                raise MalformedDataError(position, "a varint above 64 bits")
            return (value >> 1) ^ -(value & 1), position + index + 1
    if end - position < _VARLONG_BYTES:
        raise MalformedDataError(position, "a varint is cut")
    raise MalformedDataError(position, f"a varint of more than {_VARLONG_BYTES} bytes")
