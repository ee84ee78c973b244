"""Protects the meaning of the answers: what each API says of topics, leaders, records and offsets."""

import asyncio
import struct
from typing import Any
from uuid import UUID

import pytest

from client.wire import errors
from client.wire.api import api_for_body
from client.wire.apis.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from client.wire.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from client.wire.apis.init_producer_id import InitProducerIdRequest
from client.wire.apis.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic
from client.wire.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from client.wire.messages import Request
from client.wire.records import LOG_APPEND_TIME, TRANSACTIONAL, Record, decode_batches, encode_batch
from harness.brokers.embedded.cluster import BrokerState, ClusterState, PartitionState, TopicState
from harness.brokers.embedded.handlers import handlers
from harness.brokers.embedded.log import MemoryLogs
from harness.brokers.embedded.node import Disconnect, Node


def placed(leader: int, epoch: int = 4) -> PartitionState:
    return PartitionState(leader=leader, leader_epoch=epoch, replicas=(1, 2, 3), isr=(1, 2))


STATE = ClusterState(
    epoch=1,
    cluster_id="lab",
    controller_id=2,
    brokers=(
        BrokerState(broker_id=1, host="127.0.2.1", port=9092),
        BrokerState(broker_id=2, host="127.0.2.2", port=9092),
    ),
    topics=(TopicState(name="orders", partitions=(placed(1), placed(2), placed(3))),),
)


@pytest.fixture
def node() -> Node:
    return Node(1, STATE, MemoryLogs())


def ask(node: Node, body: object, version: int) -> Any:
    api = api_for_body(type(body))
    request = Request(api=api, version=version, correlation_id=1, client_id="t", body=body)
    return asyncio.run(handlers()[api.key].answer(node, request))


def sent(node: Node, records: bytes | None, *, partition: int = 0, acks: int = -1, version: int = 3) -> Any:
    data = TopicProduceData(name="orders", partition_data=(PartitionProduceData(index=partition, records=records),))
    answer: ProduceResponse = ask(node, ProduceRequest(acks=acks, timeout_ms=0, topic_data=(data,)), version)
    return answer.responses[0].partition_responses[0]


def one(value: bytes = b"v", **named: int) -> bytes:
    return encode_batch([Record(value=value)], **{"base_timestamp_ms": 5, **named})


def damaged(at: int, raw: bytes) -> bytes:
    batch = bytearray(one())
    batch[at : at + len(raw)] = raw
    return bytes(batch)


def recoded(codec: int) -> bytes:
    from crc32c import crc32c

    batch = bytearray(damaged(22, bytes([codec])))
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    return bytes(batch)


def test_metadata_tells_the_cluster(node: Node) -> None:
    answer = ask(node, MetadataRequest(topics=None), 5)
    assert [(b.node_id, b.host, b.port) for b in answer.brokers] == [(1, "127.0.2.1", 9092), (2, "127.0.2.2", 9092)]
    assert (answer.controller_id, answer.cluster_id) == (2, "lab")
    found = [(p.partition_index, p.leader_id, p.error_code, p.offline_replicas) for p in answer.topics[0].partitions]
    gone = errors.LEADER_NOT_AVAILABLE
    assert found == [(0, 1, 0, (3,)), (1, 2, 0, (3,)), (2, -1, gone, (3,))]
    assert answer.topics[0].partitions[0].leader_epoch == 4


def test_metadata_of_no_topics_some_and_unknown_ones(node: Node) -> None:
    assert ask(node, MetadataRequest(topics=()), 5).topics == ()
    assert [t.name for t in ask(node, MetadataRequest(topics=()), 0).topics] == ["orders"]
    asked = (MetadataRequestTopic(name="orders"), MetadataRequestTopic(name="nowhere"))
    answer = ask(node, MetadataRequest(topics=asked), 5)
    assert [(t.name, t.error_code) for t in answer.topics] == [("orders", 0), ("nowhere", 3)]
    ids = (STATE.topics[0].topic_id, UUID(int=5), None)
    answer = ask(node, MetadataRequest(topics=tuple(MetadataRequestTopic(topic_id=i) for i in ids)), 12)
    assert [(t.name, t.error_code) for t in answer.topics] == [("orders", 0), ("", 100), ("", 100)]


def test_produce_appends_and_says_where(node: Node) -> None:
    assert sent(node, one()) == PartitionProduceResponse(index=0, base_offset=0, log_start_offset=0)
    assert sent(node, one(), acks=1).base_offset == 1


@pytest.mark.parametrize(
    ("records", "code", "text"),
    [
        (None, errors.INVALID_RECORD, "no record batch"),
        (b"", errors.INVALID_RECORD, "no record batch"),
        (one() + one(), errors.INVALID_RECORD, "more than one record batch"),
        (one()[:-1], errors.CORRUPT_MESSAGE, "68 of 69 bytes"),
        (damaged(66, b"!"), errors.CORRUPT_MESSAGE, "CRC-32C"),
        (damaged(16, b"\x01"), errors.INVALID_RECORD, "magic 1"),
        (one(b"x" * 2**20), errors.MESSAGE_TOO_LARGE, "1048588 at most"),
        (one(attributes=TRANSACTIONAL), errors.INVALID_REQUEST, "transactions are not supported"),
        (one(attributes=LOG_APPEND_TIME), errors.INVALID_RECORD, "must not say that the broker set the time"),
        (recoded(4), errors.UNSUPPORTED_COMPRESSION_TYPE, "zstd in Produce v3"),
        (recoded(6), errors.UNSUPPORTED_COMPRESSION_TYPE, "codec 6 in Produce v3"),
    ],
)
def test_produce_refuses_what_is_unfit(records: bytes | None, code: int, text: str, node: Node) -> None:
    answer = sent(node, records)
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert text in answer.error_message
    assert sent(node, one()).base_offset == 0, "nothing of it was appended"


def test_produce_refuses_wrong_places_and_acks(node: Node) -> None:
    assert sent(node, one(), partition=1).error_code == errors.NOT_LEADER_OR_FOLLOWER
    assert sent(node, one(), partition=7).error_code == errors.UNKNOWN_TOPIC_OR_PARTITION
    assert sent(node, one(), partition=-1).error_code == errors.UNKNOWN_TOPIC_OR_PARTITION
    assert sent(node, one(), acks=5).error_code == errors.INVALID_REQUIRED_ACKS
    with pytest.raises(Disconnect, match="orders-1 with acks 0: NOT_LEADER_OR_FOLLOWER"):
        sent(node, one(), partition=1, acks=0)


def test_produce_of_idempotent_producers(node: Node) -> None:
    first = {"producer_id": 1, "producer_epoch": 2, "base_sequence": 0}
    assert [sent(node, one(**first)).base_offset for _ in range(2)] == [0, 0]
    assert sent(node, one(**{**first, "base_sequence": 5})).error_code == errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert sent(node, one(**{**first, "producer_epoch": 1})).error_code == errors.INVALID_PRODUCER_EPOCH


def test_the_highest_time_is_reckoned_from_the_records(node: Node) -> None:
    """Source: Shopify/sarama v1.27.2 produce_set.go leaves MaxTimestamp out."""
    records = [Record(value=b"a"), Record(offset_delta=1, timestamp_delta_ms=9, value=b"b")]
    sent(node, encode_batch(records, base_timestamp_ms=100, max_timestamp_ms=-1))
    (batch,) = decode_batches(node.led_partition("orders", 0).log.read(0, max_bytes=10**6, at_least_one=True))
    assert batch.header.max_timestamp_ms == 109
    assert batch.records == tuple(records)


def test_a_newer_state_moves_the_leader_and_an_older_one_does_not(node: Node) -> None:
    sent(node, one())
    moved = ClusterState(
        epoch=5,
        cluster_id="lab",
        controller_id=2,
        brokers=STATE.brokers,
        topics=(TopicState(name="orders", partitions=(placed(2, 5), placed(1, 5))),),
    )
    assert node.apply(moved)
    assert not node.apply(STATE)
    assert sent(node, one()).error_code == errors.NOT_LEADER_OR_FOLLOWER
    assert sent(node, one(), partition=1).base_offset == 0


def test_a_broker_that_missed_the_news_is_fenced_at_its_next_append() -> None:
    logs = MemoryLogs()
    paused, awake = Node(1, STATE, logs), Node(2, STATE, logs)
    assert sent(paused, one()).base_offset == 0
    awake.apply(
        ClusterState(
            epoch=2,
            cluster_id="lab",
            controller_id=2,
            brokers=STATE.brokers,
            topics=(TopicState(name="orders", partitions=(placed(2, 5),)),),
        )
    )
    assert sent(paused, one(b"zombie")).error_code == errors.NOT_LEADER_OR_FOLLOWER
    assert sent(awake, one(b"after")).base_offset == 1


def offsets(node: Node, timestamp: int, *, partition: int = 0, epoch: int = -1, version: int = 7) -> Any:
    asked = ListOffsetsPartition(partition_index=partition, current_leader_epoch=epoch, timestamp=timestamp)
    topics = (ListOffsetsTopic(name="orders", partitions=(asked,)),)
    return ask(node, ListOffsetsRequest(topics=topics), version).topics[0].partitions[0]


def test_list_offsets(node: Node) -> None:
    assert [offsets(node, t).offset for t in (-1, -2, -3, 0)] == [0, 0, -1, -1]
    for at_ms in (100, 300, 200):
        sent(node, one(base_timestamp_ms=at_ms))
    found = [(offsets(node, t).offset, offsets(node, t).timestamp) for t in (-1, -2, -3, 100, 101, 301)]
    assert found == [(3, -1), (0, -1), (1, 300), (0, 100), (1, 300), (-1, -1)]
    assert offsets(node, -1, partition=1).error_code == errors.NOT_LEADER_OR_FOLLOWER
    assert offsets(node, -1, epoch=3).error_code == errors.FENCED_LEADER_EPOCH
    assert offsets(node, -1, epoch=5).error_code == errors.UNKNOWN_LEADER_EPOCH
    assert offsets(node, -1, epoch=4).leader_epoch == 4


def read(node: Node, *asked: tuple[int, int, int], max_bytes: int = 10**6, **named: int) -> Any:
    partitions = tuple(
        FetchPartition(partition=p, fetch_offset=offset, partition_max_bytes=limit) for p, offset, limit in asked
    )
    topics = (FetchTopic(topic="orders", partitions=partitions),)
    return ask(node, FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=max_bytes, topics=topics, **named), 11)


def test_fetch_reads_whole_batches_from_an_offset(node: Node) -> None:
    for value in (b"0", b"1", b"2"):
        sent(node, one(value))
    size = len(one(b"0"))
    everything = read(node, (0, 0, 10**6)).responses[0].partitions[0]
    assert [b.records[0].value for b in decode_batches(everything.records)] == [b"0", b"1", b"2"]
    assert (everything.high_watermark, everything.last_stable_offset) == (3, 3)
    limits = {0: size, 1: size, size: size, 2 * size - 1: size, 2 * size: 2 * size}
    for limit, got in limits.items():
        assert len(read(node, (0, 1, limit)).responses[0].partitions[0].records) == got
        assert len(read(node, (0, 1, 10**6), max_bytes=limit).responses[0].partitions[0].records) == got
    assert read(node, (0, 3, 10**6)).responses[0].partitions[0].records == b""


def test_fetch_gives_only_the_first_batch_beyond_the_limit(node: Node) -> None:
    node.apply(
        ClusterState(
            epoch=2,
            cluster_id="lab",
            controller_id=2,
            brokers=STATE.brokers,
            topics=(TopicState(name="orders", partitions=(placed(1), placed(1))),),
        )
    )
    sent(node, one())
    sent(node, one(), partition=1)
    partitions = read(node, (0, 0, 1), (1, 0, 1)).responses[0].partitions
    assert [len(p.records) for p in partitions] == [len(one()), 0]


def test_fetch_refuses(node: Node) -> None:
    for offset in (-1, 1):
        assert read(node, (0, offset, 9)).responses[0].partitions[0].error_code == errors.OFFSET_OUT_OF_RANGE
    assert read(node, (1, 0, 9)).responses[0].partitions[0].error_code == errors.NOT_LEADER_OR_FOLLOWER
    assert read(node, (0, 0, 9), session_id=3).error_code == errors.FETCH_SESSION_ID_NOT_FOUND


def test_a_waiting_fetch_learns_that_the_leader_moved(node: Node) -> None:
    async def wait_and_move() -> Any:
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=9)
        body = FetchRequest(max_wait_ms=20_000, min_bytes=1, topics=(FetchTopic(topic="orders", partitions=(asked,)),))
        request = Request(api=api_for_body(FetchRequest), version=11, correlation_id=1, client_id=None, body=body)
        waiting = asyncio.ensure_future(handlers()[1].answer(node, request))
        await asyncio.sleep(0)
        assert not waiting.done()
        moved = ClusterState(epoch=2, cluster_id="lab", controller_id=2, brokers=(), topics=())
        node.apply(moved)
        return await waiting

    answer = asyncio.run(wait_and_move())
    assert answer.responses[0].partitions[0].error_code == errors.UNKNOWN_TOPIC_OR_PARTITION


def test_producer_ids_differ_between_brokers() -> None:
    logs = MemoryLogs()
    nodes = [Node(b, STATE, logs) for b in (1, 2)]
    given_away = [ask(n, InitProducerIdRequest(), 4).producer_id for n in nodes * 2]
    assert len(set(given_away)) == 4
    assert ask(nodes[0], InitProducerIdRequest(transactional_id="t"), 4).error_code == errors.INVALID_REQUEST


def created(node: Node, *topics: CreatableTopic, validate_only: bool = False) -> list[int]:
    body = CreateTopicsRequest(topics=topics, timeout_ms=0, validate_only=validate_only)
    return [topic.error_code for topic in ask(node, body, 5).topics]


def test_topics_are_created_by_the_controller_alone_and_bad_ones_refused(node: Node) -> None:
    wanted: list[tuple[str, int, int]] = []
    controller = Node(2, STATE, MemoryLogs(), lambda *topic: wanted.append(topic))
    good = CreatableTopic(name="new", num_partitions=2, replication_factor=-1)
    assert created(node, good) == [errors.NOT_CONTROLLER]
    assert created(controller, good, validate_only=True) == [errors.NONE]
    by_hand = CreatableReplicaAssignment(partition_index=0, broker_ids=(1,))
    bad = [
        CreatableTopic(name="orders", num_partitions=1, replication_factor=1),
        CreatableTopic(name="../etc", num_partitions=1, replication_factor=1),
        CreatableTopic(name="none", num_partitions=0, replication_factor=1),
        CreatableTopic(name="huge", num_partitions=2**31 - 1, replication_factor=1),
        CreatableTopic(name="wide", num_partitions=1, replication_factor=3),
        CreatableTopic(name="hand", num_partitions=-1, replication_factor=-1, assignments=(by_hand,)),
    ]
    assert created(controller, *bad) == [
        errors.TOPIC_ALREADY_EXISTS, errors.INVALID_TOPIC_EXCEPTION, errors.INVALID_PARTITIONS,
        errors.INVALID_PARTITIONS, errors.INVALID_REPLICATION_FACTOR, errors.INVALID_REQUEST,
    ]  # fmt: skip
    assert not wanted
    assert created(controller, good) == [errors.REQUEST_TIMED_OUT], "nobody answers here"
    assert wanted == [("new", 2, 1)]
