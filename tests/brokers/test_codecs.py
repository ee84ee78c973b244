"""Protects the codecs against librdkafka: it reads what our compressors write, and we read what it writes."""

from typing import Any

import confluent_kafka
import lz4.frame
import pytest

from client.wire.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.compression import Compressor, gzip, lz4_frame, snappy_raw, snappy_xerial, zstd
from client.wire.records import Record, decode_batches, encode_batch

VALUES = [b"faultlab " * 10_000, b"", bytes(range(256)) * 300]
COMPRESSORS = {
    "gzip": gzip(),
    "snappy raw": snappy_raw(),
    "snappy xerial": snappy_xerial(),
    "lz4 64 KiB": lz4_frame(lz4.frame.BLOCKSIZE_MAX64KB),
    "lz4 4 MiB": lz4_frame(lz4.frame.BLOCKSIZE_MAX4MB),
    "zstd": zstd(),
}


@pytest.mark.parametrize("name", COMPRESSORS)
def test_librdkafka_reads_what_we_compress(name: str, cluster: Any, raw: Any) -> None:
    raw.ask(_request(COMPRESSORS[name]), 9)
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": "reader", "enable.auto.commit": False}
    consumer = confluent_kafka.Consumer(settings)
    try:
        consumer.assign([confluent_kafka.TopicPartition("one", 0, 0)])
        found = [consumer.poll(30) for _ in VALUES]
    finally:
        consumer.close()
    assert [m.value() for m in found if m is not None and m.error() is None] == VALUES


@pytest.mark.parametrize("codec", ["gzip", "snappy", "zstd"])  # lz4 it keeps for brokers that have groups
def test_we_read_what_librdkafka_compresses(codec: str, cluster: Any, raw: Any) -> None:
    settings = {"bootstrap.servers": cluster.bootstrap, "compression.type": codec, "linger.ms": 50}
    producer = confluent_kafka.Producer(settings)
    for value in VALUES:
        producer.produce("one", value, partition=0)
    assert producer.flush(30) == 0
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    answer = raw.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, topics=(FetchTopic(topic="one", partitions=(asked,)),)), 4
    )
    batches = decode_batches(answer.responses[0].partitions[0].records)
    assert {batch.header.codec_name for batch in batches} == {codec}
    assert [record.value for batch in batches for record in batch.records] == VALUES


def _request(compressor: Compressor) -> ProduceRequest:
    records = [Record(offset_delta=place, value=value) for place, value in enumerate(VALUES)]
    batch = encode_batch(records, base_timestamp_ms=1_700_000_000_000, compressor=compressor)
    data = (PartitionProduceData(index=0, records=batch),)
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=(TopicProduceData(name="one", partition_data=data),))
