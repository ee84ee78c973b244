"""Protects what the embedded broker is for: clients that know nothing of it (librdkafka through confluent-kafka, and
kafka-python) write to several partitions on three brokers, and read everything back byte by byte, each other's too."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import confluent_kafka
import kafka
import pytest

from harness.brokers.embedded.file_log import FileLogs
from harness.levers import MoveLeader

PARTITIONS = 6
DEADLINE_S = 30


@dataclass(frozen=True, order=True)
class Message:
    """What must come back: everything that a producer can say of a record."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int


def _messages() -> list[Message]:
    chance = random.Random(7)
    found = []
    for i in range(120):
        partition, offset = i % PARTITIONS, i // PARTITIONS
        value = chance.randbytes(300_000) if i == 30 else chance.randbytes(chance.randrange(200))
        headers = (("trace", chance.randbytes(8)), ("empty", b"")) if i % 7 == 0 else ()
        key = None if i % 5 == 0 and i % 11 else chance.randbytes(5)  # kafka-python refuses a record without both
        found.append(Message(partition, offset, key, None if i % 11 == 0 else value, headers, 1_700_000_000_000 + i))
    return sorted(found, key=lambda m: (m.partition, m.offset))


MESSAGES = _messages()


def confluent_writes(bootstrap: str, messages: list[Message], **settings: Any) -> list[Message]:
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, **settings})
    offsets: dict[Message, int] = {}

    def delivered(message: Message) -> Callable[[Any, Any], None]:
        def report(error: Any, where: Any) -> None:
            assert error is None, error
            offsets[message] = where.offset()

        return report

    for m in messages:
        producer.produce(
            "orders",
            m.value,
            m.key,
            m.partition,
            headers=list(m.headers),
            timestamp=m.timestamp_ms,
            on_delivery=delivered(m),
        )
    assert producer.flush(DEADLINE_S) == 0
    return [_at(m, offsets[m]) for m in messages]


def kafka_python_writes(bootstrap: str, messages: list[Message], **settings: Any) -> list[Message]:
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, **settings)
    try:
        sent = [producer.send("orders", m.value, m.key, list(m.headers), m.partition, m.timestamp_ms) for m in messages]
        return [_at(m, s.get(DEADLINE_S).offset) for m, s in zip(messages, sent, strict=True)]
    finally:
        producer.close()


def confluent_reads(bootstrap: str) -> list[Message]:
    settings = {"group.id": "reader", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, **settings})
    ends = set()
    found = []
    try:
        consumer.assign([confluent_kafka.TopicPartition("orders", p, 0) for p in range(PARTITIONS)])
        while len(ends) < PARTITIONS:
            m = consumer.poll(DEADLINE_S)
            assert m is not None, f"nothing more within {DEADLINE_S} s, {len(found)} read"
            if m.error() is not None:
                assert m.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, m.error()
                ends.add(m.partition())
                continue
            headers = tuple(m.headers() or ())
            found.append(Message(m.partition(), m.offset(), m.key(), m.value(), headers, m.timestamp()[1]))
    finally:
        consumer.close()
    return sorted(found, key=lambda m: (m.partition, m.offset))


def kafka_python_reads(bootstrap: str) -> list[Message]:
    consumer = kafka.KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, max_partition_fetch_bytes=400_000)
    found = []
    try:
        partitions = [kafka.TopicPartition("orders", p) for p in range(PARTITIONS)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        assert set(consumer.beginning_offsets(partitions).values()) == {0}
        consumer.seek_to_beginning()
        while len(found) < sum(ends.values()):
            batch = consumer.poll(timeout_ms=DEADLINE_S * 1000)
            assert batch, f"nothing more within {DEADLINE_S} s, {len(found)} read"
            for records in batch.values():
                found += [
                    Message(r.partition, r.offset, r.key, r.value, tuple(r.headers), r.timestamp) for r in records
                ]
    finally:
        consumer.close()
    return sorted(found, key=lambda m: (m.partition, m.offset))


def _at(m: Message, offset: int) -> Message:
    return replace(m, offset=offset)


WRITERS = {"confluent": confluent_writes, "kafka-python": kafka_python_writes}
READERS = {"confluent": confluent_reads, "kafka-python": kafka_python_reads}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_one_writes_both_read_byte_by_byte(writer: str, cluster: Any) -> None:
    acknowledged = WRITERS[writer](cluster.bootstrap, MESSAGES)
    assert acknowledged == MESSAGES
    for reads in READERS.values():
        assert reads(cluster.bootstrap) == MESSAGES


@pytest.mark.parametrize(
    ("writer", "settings"),
    [
        ("confluent", {"enable.idempotence": True}),
        ("confluent", {"acks": 1, "linger.ms": 0}),
        ("kafka-python", {"enable_idempotence": False, "acks": 1}),
    ],
)
def test_other_ways_to_write(writer: str, settings: dict[str, Any], cluster: Any) -> None:
    assert WRITERS[writer](cluster.bootstrap, MESSAGES, **settings) == MESSAGES
    assert READERS["confluent"](cluster.bootstrap) == MESSAGES


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches_are_kept_as_they_came(codec: str, cluster: Any) -> None:
    settings = {"compression.type": codec, "linger.ms": 50}
    assert confluent_writes(cluster.bootstrap, MESSAGES, **settings) == MESSAGES
    assert confluent_reads(cluster.bootstrap) == MESSAGES


def test_acks_0_is_written_without_an_answer(cluster: Any) -> None:
    confluent_writes(cluster.bootstrap, MESSAGES, acks=0)
    until = time.monotonic() + DEADLINE_S
    while (read := confluent_reads(cluster.bootstrap)) != MESSAGES:
        assert time.monotonic() < until, f"{len(read)} of {len(MESSAGES)} were written"


@pytest.mark.parametrize("writer", WRITERS)
def test_a_client_follows_the_leader(writer: str, clusters: Any, tmp_path: Path) -> None:
    cluster = clusters(logs=FileLogs(tmp_path))
    first, second = MESSAGES[:60], MESSAGES[60:]
    WRITERS[writer](cluster.bootstrap, first)
    for partition in range(PARTITIONS):
        leader = cluster.controller.state.partition("orders", partition).leader
        cluster.soon(
            lambda p=partition, to=leader % 3 + 1: cluster.controller.change(
                MoveLeader(topic="orders", partition=p, to=to)
            )
        )
    WRITERS[writer](cluster.bootstrap, second)
    read = confluent_reads(cluster.bootstrap)
    assert [(m.partition, m.key, m.value) for m in read] == [(m.partition, m.key, m.value) for m in MESSAGES]


def test_a_producer_that_knows_the_old_leader_is_told_so_and_goes_on(cluster: Any) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=cluster.bootstrap, enable_idempotence=False, retries=5)
    try:
        assert producer.send("orders", b"before", partition=0).get(DEADLINE_S).offset == 0
        cluster.soon(lambda: cluster.controller.change(MoveLeader(topic="orders", partition=0, to=2)))
        assert producer.send("orders", b"after", partition=0).get(DEADLINE_S).offset == 1
    finally:
        producer.close()


def test_offsets_by_time(cluster: Any) -> None:
    kafka_python_writes(cluster.bootstrap, MESSAGES)
    consumer = kafka.KafkaConsumer(bootstrap_servers=cluster.bootstrap, group_id=None)
    try:
        partition = kafka.TopicPartition("orders", 2)
        third = [m for m in MESSAGES if m.partition == 2][3]
        found = consumer.offsets_for_times({partition: third.timestamp_ms - 1})[partition]
        assert (found.offset, found.timestamp) == (3, third.timestamp_ms)
        assert consumer.offsets_for_times({partition: 2_000_000_000_000})[partition] is None
    finally:
        consumer.close()
