"""Protects the codecs: what each compressor writes is read back, by others too; damage and bombs are refused."""

import gzip as stdlib_gzip
import zlib
from collections.abc import Callable

import lz4.frame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from client.wire.compression import (
    Compression,
    CompressionError,
    Compressor,
    decompress,
    gzip,
    lz4_frame,
    snappy_raw,
    snappy_xerial,
    uncompressed,
    zstd,
)
from client.wire.records import HEADER_BYTES, Record, RecordsError, decode_batches, encode_batch

WAYS: dict[str, Callable[[], Compressor]] = {
    "plain": uncompressed,
    "gzip": gzip,
    "gzip 1": lambda: gzip(1),
    "gzip huffman": lambda: gzip(-2),
    "snappy raw": snappy_raw,
    "snappy xerial": snappy_xerial,
    "lz4 64 KiB": lambda: lz4_frame(lz4.frame.BLOCKSIZE_MAX64KB),
    "lz4 4 MiB": lambda: lz4_frame(lz4.frame.BLOCKSIZE_MAX4MB),
    "zstd": zstd,
    "zstd 19": lambda: zstd(19),
}
PACKED = {name: make for name, make in WAYS.items() if name != "plain"}
TEXT = b"faultlab " * 20_000
"""Longer than a xerial block and an lz4 block of 64 KiB."""


@pytest.mark.parametrize("way", WAYS)
@given(data=st.binary(max_size=400), times=st.integers(0, 300))
@settings(max_examples=30, deadline=None)
def test_what_is_written_is_read(way: str, data: bytes, times: int) -> None:
    compressor = WAYS[way]()
    assert decompress(compressor.codec, compressor.compress(data * times)) == data * times


@pytest.mark.parametrize("way", PACKED)
def test_a_batch_says_its_codec_and_gives_its_records_back(way: str) -> None:
    records = [Record(value=TEXT), Record(offset_delta=1, key=b"k", value=None)]
    compressor = PACKED[way]()
    data = encode_batch(records, base_timestamp_ms=5, compressor=compressor)
    assert len(data) < len(TEXT) / 2
    (batch,) = decode_batches(data)
    assert batch.header.codec == compressor.codec
    assert list(batch.records) == records


@pytest.mark.parametrize("way", [name for name in PACKED if "snappy" not in name])
def test_kafka_python_reads_our_batches(way: str) -> None:
    compressor = PACKED[way]()
    data = encode_batch([Record(value=TEXT)], base_timestamp_ms=5, compressor=compressor)
    (record,) = DefaultRecordBatch(data)
    assert record.value == TEXT


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.LZ4, Compression.ZSTD])
def test_we_read_kafka_pythons_batches(codec: Compression) -> None:
    builder = DefaultRecordBatchBuilder(2, int(codec), False, -1, -1, -1, 1 << 20)
    builder.append(0, 7, b"key", TEXT, [])
    (batch,) = decode_batches(bytes(builder.build()))
    assert batch.header.codec == codec
    assert [(r.key, r.value) for r in batch.records] == [(b"key", TEXT)]


def test_the_xerial_frame_is_the_java_clients() -> None:
    data = snappy_xerial().compress(TEXT)
    assert data[:16] == b"\x82SNAPPY\x00" + bytes.fromhex("0000000100000001")
    first_bytes = int.from_bytes(data[16:20], "big")
    assert decompress(Compression.SNAPPY, data[20 : 20 + first_bytes]) == TEXT[: 32 * 1024]
    assert not snappy_raw().compress(TEXT).startswith(b"\x82SNAPPY\x00")


def test_lz4_blocks_do_not_depend_on_each_other() -> None:
    """Apache Kafka refuses a frame whose independence flag (bit 5 of its fifth byte) is not set."""
    for block_size in (lz4.frame.BLOCKSIZE_MAX64KB, lz4.frame.BLOCKSIZE_MAX4MB):
        assert lz4_frame(block_size).compress(TEXT)[4] & 0b0010_0000


def test_gzip_of_several_members_is_one() -> None:
    assert decompress(Compression.GZIP, stdlib_gzip.compress(b"a") + stdlib_gzip.compress(b"b")) == b"ab"


@pytest.mark.parametrize("way", PACKED)
def test_data_above_the_limit_are_refused(way: str) -> None:
    compressor = PACKED[way]()
    data = compressor.compress(TEXT)
    assert decompress(compressor.codec, data, max_bytes=len(TEXT)) == TEXT
    with pytest.raises(CompressionError, match=r"of more than|at most \d+ are left"):
        decompress(compressor.codec, data, max_bytes=len(TEXT) - 1)


@pytest.mark.parametrize("way", PACKED)
def test_cut_data_never_pass_for_whole_ones(way: str) -> None:
    compressor = PACKED[way]()
    data = encode_batch([Record(value=TEXT[:70_000])], base_timestamp_ms=0, compressor=compressor)
    packed = data[HEADER_BYTES:]
    for cut in (1, len(packed) // 2, len(packed) - 1):
        shorter = _rebuilt(compressor.codec, packed[:cut])
        with pytest.raises(RecordsError) as wrong:
            decode_batches(shorter)
        assert wrong.value.reason in ("compression", "malformed")


def _rebuilt(codec: int, packed: bytes) -> bytes:
    """A batch of one record whose checksum is right and whose records are these bytes."""
    return encode_batch(
        [Record(value=b"")], base_timestamp_ms=0, compressor=Compressor(Compression(codec), lambda _: packed)
    )


@pytest.mark.parametrize("codec", [c for c in Compression if c != Compression.NONE])
@given(data=st.binary(min_size=1, max_size=200))
@settings(max_examples=150, deadline=None)
def test_random_bytes_raise_one_error(codec: Compression, data: bytes) -> None:
    reason = "malformed"
    try:
        decode_batches(_rebuilt(codec, data))
    except RecordsError as wrong:
        reason = wrong.reason
    assert reason in ("compression", "malformed")


@pytest.mark.parametrize(
    ("codec", "data", "text"),
    [
        (7, b"x", "codec 7 is not known"),
        (1, b"xx", "not what gzip writes"),
        (1, zlib.compress(b"x", wbits=31)[:-9], "gzip data that end too early"),
        (2, b"\xff\xff\xff\xff\x0f", "not what snappy writes|a snappy block of 4294967295 bytes"),
        (2, b"\x82SNAPPY\x00" + bytes(8) + b"\x00\x00", "end in a block's length"),
        (2, b"\x82SNAPPY\x00" + bytes(8) + b"\x00\x00\x00\x09x", "a snappy block of 9 bytes where 1 are left"),
        (3, b"x" * 20, "not what lz4 writes"),
        (3, b"\x04\x22\x4d\x18", "lz4 data that end too early"),
        (4, b"x" * 20, "not what zstd writes"),
    ],
)
def test_damage_is_named(codec: int, data: bytes, text: str) -> None:
    with pytest.raises(CompressionError, match=text):
        decompress(codec, data)
