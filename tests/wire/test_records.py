"""Protects record batches: byte for byte those of kafka-python and Sarama, and every damage is named."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from client.wire.batch_header import HEADER_BYTES
from client.wire.exceptions import MalformedDataError
from client.wire.records import (
    LOG_APPEND_TIME,
    Record,
    RecordsError,
    assign_base_offset,
    batch_headers,
    decode_batches,
    encode_batch,
    read_header,
)
from client.wire.varints import read_varint, write_varint

SARAMAS = bytes.fromhex(
    "0000000000000000" "00000046" "00000000" "02" "ca33bc05" "0000" "00000001" "000001588dcd5938" "0000000000000000"
    "0000000000000000" "0000" "00000000" "00000001" "28" "00" "0a" "00" "0801020304" "06050607" "02" "0608090a" "040b0c"
)  # fmt: skip
"""Source: Shopify/sarama v1.27.2 produce_request_test.go, produceRequestOneRecord."""

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
RECORDS = st.lists(
    st.builds(
        Record,
        timestamp_delta_ms=st.integers(0, 2**40),
        key=st.none() | st.binary(max_size=20),
        value=st.none() | st.binary(max_size=200),
        headers=st.lists(st.tuples(TEXTS, st.none() | st.binary(max_size=8)), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=5,
).map(lambda records: [_at(i, r) for i, r in enumerate(records)])


def _at(offset_delta: int, r: Record) -> Record:
    return Record(
        offset_delta=offset_delta,
        timestamp_delta_ms=0 if offset_delta == 0 else r.timestamp_delta_ms,
        key=r.key,
        value=r.value,
        headers=r.headers,
    )


def _by_kafka_python(records: list[Record], base_timestamp_ms: int) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=2**20,
    )
    for r in records:
        at = base_timestamp_ms + r.timestamp_delta_ms
        assert builder.append(r.offset_delta, at, r.key, r.value, list(r.headers)) is not None
    return bytes(builder.build())


@settings(max_examples=200, deadline=None)
@given(records=RECORDS, base_ms=st.integers(0, 2**41))
def test_the_same_bytes_as_kafka_python(records: list[Record], base_ms: int) -> None:
    ours = encode_batch(records, base_timestamp_ms=base_ms, partition_leader_epoch=0)
    theirs = bytearray(_by_kafka_python(records, base_ms))
    theirs[12:16] = ours[12:16]  # the leader's epoch, which a producer does not know and kafka-python puts as -1 or 0
    assert ours == bytes(theirs)


@settings(max_examples=200, deadline=None)
@given(records=RECORDS, base_ms=st.integers(0, 2**41), base_offset=st.integers(0, 2**40))
def test_kafka_python_reads_ours_and_so_do_we(records: list[Record], base_ms: int, base_offset: int) -> None:
    ours = encode_batch(records, base_timestamp_ms=base_ms, base_offset=base_offset)
    (batch,) = decode_batches(ours)
    assert list(batch.records) == records
    theirs = DefaultRecordBatch(bytearray(ours))
    assert theirs.validate_crc()
    for read, record in zip(theirs, records, strict=True):
        assert (read.offset, read.timestamp) == (batch.offset_of(record), batch.timestamp_ms_of(record))
        assert (read.key, read.value, tuple(read.headers)) == (record.key, record.value, record.headers)


def test_sarama_writes_this_batch() -> None:
    (batch,) = decode_batches(SARAMAS)
    assert (batch.header.base_timestamp_ms, batch.header.last_offset_delta) == (1479847795000, 1)
    assert batch.records == (
        Record(timestamp_delta_ms=5, key=b"\1\2\3\4", value=b"\5\6\7", headers=(("\x08\t\n", b"\x0b\x0c"),)),
    )


def test_several_batches_and_a_cut_one() -> None:
    one = encode_batch([Record(value=b"1")], base_timestamp_ms=0)
    two = encode_batch([Record(value=b"2"), Record(offset_delta=1, value=None)], base_timestamp_ms=0, base_offset=1)
    assert [b.header.next_offset for b in decode_batches(one + two)] == [1, 3]
    for cut in range(1, len(two)):
        assert len(decode_batches(one + two[:cut], allow_truncated=True)) == 1
        with pytest.raises(RecordsError) as wrong:
            decode_batches(one + two[:cut])
        assert (wrong.value.reason, wrong.value.offset) == ("truncated", len(one))


def _damaged(at: int, raw: bytes) -> bytes:
    batch = bytearray(encode_batch([Record(value=b"hello")], base_timestamp_ms=0))
    batch[at : at + len(raw)] = raw
    return bytes(batch)


@pytest.mark.parametrize(
    ("data", "reason", "text"),
    [
        (_damaged(16, b"\x01"), "magic", "magic 1 is not supported, only 2 (Kafka 0.11 and later)"),
        (_damaged(8, struct.pack(">i", 5)), "malformed", "a length of 5 is below that of an empty batch"),
        (_damaged(8, struct.pack(">i", 2**31 - 1)), "truncated", "73 of 2147483659 bytes"),
        (_damaged(66, b"\xff"), "crc", "CRC-32C is "),
        (_damaged(23, struct.pack(">i", -4)), "malformed", "1 records, last offset delta -4"),
    ],
)
def test_damage_is_named(data: bytes, reason: str, text: str) -> None:
    with pytest.raises(RecordsError) as wrong:
        decode_batches(data)
    assert wrong.value.reason == reason
    assert text in str(wrong.value)
    assert str(wrong.value).startswith("record batch at byte 0: ")


@pytest.mark.parametrize(("codec", "name"), [(1, "gzip"), (2, "snappy"), (3, "lz4"), (4, "zstd"), (7, "codec 7")])
def test_batches_that_no_codec_wrote_are_refused_by_its_name(codec: int, name: str) -> None:
    data = bytearray(encode_batch([Record(value=b"hello")], base_timestamp_ms=0))
    data[22] = codec
    _recrc(data)
    ((_, header),) = batch_headers(bytes(data))
    assert header.codec_name == name
    with pytest.raises(RecordsError, match=f"not what {name} writes|{name} is not known") as wrong:
        decode_batches(bytes(data))
    assert wrong.value.reason == "compression"


def _recrc(data: bytearray) -> None:
    from crc32c import crc32c

    data[17:21] = struct.pack(">I", crc32c(bytes(data[21:])))


@settings(max_examples=400, deadline=None)
@given(at=st.integers(HEADER_BYTES, HEADER_BYTES + 25), raw=st.binary(min_size=1, max_size=4), count=st.integers(-1, 9))
def test_damage_under_a_right_checksum_is_found_too(at: int, raw: bytes, count: int) -> None:
    record = Record(key=b"k", value=b"hello", headers=(("a", b"b"),))
    data = bytearray(encode_batch([record], base_timestamp_ms=0))
    data[at : at + len(raw)] = raw
    struct.pack_into(">i", data, 8, len(data) - 12)
    struct.pack_into(">i", data, 57, count)
    _recrc(data)
    reason = "malformed"
    try:
        decode_batches(bytes(data))
    except RecordsError as wrong:
        reason = wrong.reason
    assert reason == "malformed"


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_random_bytes_raise_one_error(data: bytes) -> None:
    try:
        decode_batches(data)
    except RecordsError:
        return
    assert data == b""


def test_the_leader_stamps_what_the_checksum_does_not_cover() -> None:
    batch = assign_base_offset(
        encode_batch([Record(value=b"x")], base_timestamp_ms=0), base_offset=41, partition_leader_epoch=7
    )
    (read,) = decode_batches(batch)
    assert (read.header.base_offset, read.header.partition_leader_epoch, read.header.next_offset) == (41, 7, 42)


def test_log_append_time_is_that_of_the_batch() -> None:
    records = [Record(value=b"x"), Record(offset_delta=1, timestamp_delta_ms=9, value=b"y")]
    data = encode_batch(records, base_timestamp_ms=100, max_timestamp_ms=500, attributes=LOG_APPEND_TIME)
    (batch,) = decode_batches(data)
    assert [batch.timestamp_ms_of(r) for r in batch.records] == [500, 500]


@pytest.mark.parametrize(
    ("records", "attributes", "text"),
    [
        ([], 0, "offset deltas are 0, 1, 2"),
        ([Record(offset_delta=1, value=b"")], 0, "offset deltas are 0, 1, 2"),
        ([Record(value=b"")], 3, "the codec in the attributes is the compressor's to give"),
        ([Record(value=b"", attributes=200)], 0, "record attributes of 200"),
        ([Record(value=b"", timestamp_delta_ms=2**63)], 0, "does not fit into 64 bits"),
    ],
)
def test_what_no_batch_can_hold_is_refused(records: list[Record], attributes: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        encode_batch(records, base_timestamp_ms=0, attributes=attributes)


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints_come_back(value: int) -> None:
    out = bytearray()
    write_varint(out, value)
    assert read_varint(bytes(out), 0, len(out)) == (value, len(out))
    with pytest.raises(MalformedDataError, match="cut"):
        read_varint(bytes(out), 0, len(out) - 1)


@pytest.mark.parametrize(
    ("raw", "value"),
    [("00", 0), ("01", -1), ("02", 1), ("03", -2), ("ac02", 150), ("fe" + "ff" * 8 + "01", 2**63 - 1)],
)
def test_varints_are_those_of_protocol_buffers(raw: str, value: int) -> None:
    out = bytearray()
    write_varint(out, value)
    assert out.hex() == raw


def test_a_header_is_read_only_where_it_is_whole() -> None:
    with pytest.raises(RecordsError, match="10 of 61 bytes of its header"):
        read_header(bytes(10))
