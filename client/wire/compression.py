"""The codecs of record batches: gzip, snappy, lz4, zstd. A batch's records are compressed as one, its header never.

    batch = encode_batch(records, base_timestamp_ms=0, compressor=snappy_xerial())

Clients differ in how they call a codec, so each way is a `Compressor` of its own; whatever any of them writes is read
by `decompress`. Source: https://kafka.apache.org/documentation/#recordbatch, apache/kafka CompressionType.java.
"""

import io
import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import cramjam
import lz4.frame
import zstandard

MAX_DECOMPRESSED_BYTES = 100 * 1024 * 1024
"""Of one batch; above it the batch is refused before more memory is allocated."""

_GZIP_WINDOW = 31
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_BLOCK_SIZE = struct.Struct(">i")


class Compression(IntEnum):
    """Codecs by the number that a batch's attributes carry."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class CompressionError(Exception):
    """Data that its codec cannot have written, or that would decompress to too much."""


class Compressor(NamedTuple):
    """One way to call a codec."""

    codec: Compression
    compress: Callable[[bytes], bytes]


def uncompressed() -> Compressor:
    """No compression."""
    return Compressor(Compression.NONE, lambda data: data)


def gzip(level: int = -1) -> Compressor:
    """RFC 1952. `level` is zlib's: 0 to 9, -1 for its default, -2 for Huffman coding alone."""
    strategy = zlib.Z_HUFFMAN_ONLY if level == -2 else zlib.Z_DEFAULT_STRATEGY

    def compress(data: bytes) -> bytes:
        writer = zlib.compressobj(max(level, -1), zlib.DEFLATED, _GZIP_WINDOW, zlib.DEF_MEM_LEVEL, strategy)
        return writer.compress(data) + writer.flush()

    return Compressor(Compression.GZIP, compress)


def snappy_raw() -> Compressor:
    """One block without a frame. Source: eapache/go-xerial-snappy snappy.go (Encode)."""
    return Compressor(Compression.SNAPPY, lambda data: bytes(cramjam.snappy.compress_raw(data)))


def snappy_xerial() -> Compressor:
    """The frame of the Java clients: a header, then blocks of 32 KiB, each behind its length.

    Source: klauspost/compress snappy/xerial/xerial.go, xerial/snappy-java SnappyOutputStream.java.
    """

    def compress(data: bytes) -> bytes:
        out = bytearray(_XERIAL_HEADER)
        for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
            block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
            out += _BLOCK_SIZE.pack(len(block)) + block
        return bytes(out)

    return Compressor(Compression.SNAPPY, compress)


def lz4_frame(block_size: int) -> Compressor:
    """A frame of blocks that do not depend on each other: a broker refuses any other.

    `block_size` is one of lz4.frame.BLOCKSIZE_*. Source: apache/kafka Lz4BlockInputStream.java.
    """

    def compress(data: bytes) -> bytes:
        framed: bytes = lz4.frame.compress(
            data, block_size=block_size, block_linked=False, content_checksum=True, store_size=False
        )
        return framed

    return Compressor(Compression.LZ4, compress)


def zstd(level: int = 3) -> Compressor:
    """RFC 8878. `level` is zstd's own, 1 to 22."""
    return Compressor(Compression.ZSTD, lambda data: zstandard.ZstdCompressor(level=level).compress(data))


def decompress(codec: int, data: bytes, *, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """Raises CompressionError for an unknown codec, damaged data, or too much of it."""
    reader = _READERS.get(codec)
    if reader is None:
        raise CompressionError(f"codec {codec} is not known")
    try:
        found = reader(data, max_bytes)
    except (zlib.error, cramjam.DecompressionError, RuntimeError, zstandard.ZstdError) as wrong:
        raise CompressionError(f"not what {Compression(codec).name.lower()} writes: {wrong}") from wrong
    if len(found) > max_bytes:
        raise CompressionError(f"{Compression(codec).name.lower()} data of more than {max_bytes} bytes")
    return found


# Readers read one byte more than allowed: data that is too large is noticed without decompressing all of it.


def _read_gzip(data: bytes, max_bytes: int) -> bytes:
    out = bytearray()
    while data:
        reader = zlib.decompressobj(_GZIP_WINDOW)
        out += reader.decompress(data, max_bytes + 1 - len(out))
        if len(out) > max_bytes:
            break
        if not reader.eof:
            raise CompressionError("gzip data that end too early")
        data = reader.unused_data
    return bytes(out)


def _read_snappy(data: bytes, max_bytes: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _read_snappy_block(data, max_bytes)
    out = bytearray()
    position = len(_XERIAL_HEADER)
    while position < len(data):
        if position + _BLOCK_SIZE.size > len(data):
            raise CompressionError("snappy data that end in a block's length")
        (size,) = _BLOCK_SIZE.unpack_from(data, position)
        position += _BLOCK_SIZE.size
        if not 0 <= size <= len(data) - position:
            raise CompressionError(f"a snappy block of {size} bytes where {len(data) - position} are left")
        out += _read_snappy_block(data[position : position + size], max_bytes - len(out))
        position += size
    return bytes(out)


def _read_snappy_block(block: bytes, max_bytes: int) -> bytes:
    size = cramjam.snappy.decompress_raw_len(block)
    if size > max_bytes:
        raise CompressionError(f"a snappy block of {size} bytes, at most {max_bytes} are left")
    return bytes(cramjam.snappy.decompress_raw(block))


def _read_lz4(data: bytes, max_bytes: int) -> bytes:
    reader = lz4.frame.LZ4FrameDecompressor()
    out: bytes = reader.decompress(data, max_length=max_bytes + 1)
    if not reader.eof and len(out) <= max_bytes:
        raise CompressionError("lz4 data that end too early")
    return out


def _read_zstd(data: bytes, max_bytes: int) -> bytes:
    reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    return reader.read(max_bytes + 1)


_READERS: dict[int, Callable[[bytes, int], bytes]] = {
    Compression.NONE: lambda data, _: data,
    Compression.GZIP: _read_gzip,
    Compression.SNAPPY: _read_snappy,
    Compression.LZ4: _read_lz4,
    Compression.ZSTD: _read_zstd,
}
