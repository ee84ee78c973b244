"""Protects the broker from its clients: whatever bytes come, it answers, closes the connection, says what is wrong."""

import asyncio
import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.create_topics import CreatableTopic, CreateTopicsRequest
from client.wire.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from client.wire.apis.init_producer_id import InitProducerIdRequest
from client.wire.apis.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.apis.sasl_authenticate import SaslAuthenticateRequest
from client.wire.apis.sasl_handshake import SaslHandshakeRequest
from client.wire.exceptions import WireError
from client.wire.frames import FrameReader
from client.wire.messages import decode_request_header, encode_request
from client.wire.records import Record, encode_batch
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.handlers import handlers
from harness.brokers.embedded.log import MemoryLogs
from harness.brokers.embedded.node import Disconnect
from harness.plan import ClusterShape, Topic

STATE = Controller(ClusterShape(brokers=1, topics=(Topic(name="t"),)), lambda b: ("127.0.2.1", 9092)).state
BATCH = encode_batch([Record(key=b"k", value=b"v", headers=(("h", b"x"),))], base_timestamp_ms=1)

PLAIN: dict[int, object] = {
    0: ProduceRequest(
        acks=1,
        timeout_ms=0,
        topic_data=(TopicProduceData(name="t", partition_data=(PartitionProduceData(index=0, records=BATCH),)),),
    ),
    1: FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        topics=(
            FetchTopic(topic="t", partitions=(FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=9),)),
        ),
    ),
    2: ListOffsetsRequest(
        topics=(ListOffsetsTopic(name="t", partitions=(ListOffsetsPartition(partition_index=0, timestamp=-1),)),)
    ),
    3: MetadataRequest(topics=(MetadataRequestTopic(name="t"),)),
    17: SaslHandshakeRequest(mechanism="PLAIN"),
    18: ApiVersionsRequest(client_software_name="n", client_software_version="v"),
    19: CreateTopicsRequest(topics=(CreatableTopic(name="new", num_partitions=1, replication_factor=1),), timeout_ms=0),
    22: InitProducerIdRequest(),
    36: SaslAuthenticateRequest(auth_bytes=b"a"),
}
REQUESTS = [
    encode_request(PLAIN[key], version=version, correlation_id=1, client_id="c")[4:]
    for key, handler in handlers().items()
    for version in handler.versions
]


async def answered(payload: bytes) -> bytes | None:
    broker = EmbeddedBroker(1, STATE, MemoryLogs())
    return await broker.answer(payload)


def is_long_poll(payload: bytes) -> bool:
    with suppress(WireError):
        return decode_request_header(payload).api_key in (1, 19)
    return False


@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_mutated_requests(data: st.DataObject) -> None:
    payload = bytearray(data.draw(st.sampled_from(REQUESTS)))
    header_bytes = struct.calcsize(">hhih") + 1
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(header_bytes, len(payload)))
        payload[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))

    async def limited() -> bytes | None:
        async with asyncio.timeout(0.001 if is_long_poll(bytes(payload)) else None):
            return await answered(bytes(payload))

    with suppress(WireError, Disconnect, TimeoutError):
        response = asyncio.run(limited())
        assert response is None or len(FrameReader().feed(response)) == 1


@pytest.mark.parametrize("payload", REQUESTS)
def test_the_unmutated_ones_are_answered(payload: bytes) -> None:
    response = asyncio.run(answered(payload))
    assert response is not None
    assert response[4:8] == struct.pack(">i", 1)
