"""Protects the codec: it agrees byte for byte with kafka-python and with Sarama's own test vectors at every version,
loses nothing on the way, and answers bad bytes with one kind of error that names API, version and place."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from uuid import UUID

import kafka.protocol.admin
import kafka.protocol.consumer
import kafka.protocol.metadata
import kafka.protocol.producer
import kafka.protocol.sasl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from client.wire.api import Api, apis
from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from client.wire.apis.create_topics import CREATE_TOPICS
from client.wire.apis.fetch import FETCH
from client.wire.apis.init_producer_id import INIT_PRODUCER_ID
from client.wire.apis.list_offsets import LIST_OFFSETS
from client.wire.apis.metadata import (
    METADATA,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from client.wire.apis.produce import (
    PRODUCE,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from client.wire.apis.sasl_authenticate import SASL_AUTHENTICATE
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE
from client.wire.exceptions import MessageError
from client.wire.messages import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from client.wire.schema import Direction

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")

THEIRS: dict[int, tuple[Any, Any]] = {
    PRODUCE.key: (kafka.protocol.producer.ProduceRequest, kafka.protocol.producer.ProduceResponse),
    FETCH.key: (kafka.protocol.consumer.FetchRequest, kafka.protocol.consumer.FetchResponse),
    LIST_OFFSETS.key: (kafka.protocol.consumer.ListOffsetsRequest, kafka.protocol.consumer.ListOffsetsResponse),
    METADATA.key: (kafka.protocol.metadata.MetadataRequest, kafka.protocol.metadata.MetadataResponse),
    API_VERSIONS.key: (kafka.protocol.metadata.ApiVersionsRequest, kafka.protocol.metadata.ApiVersionsResponse),
    CREATE_TOPICS.key: (kafka.protocol.admin.CreateTopicsRequest, kafka.protocol.admin.CreateTopicsResponse),
    INIT_PRODUCER_ID.key: (
        kafka.protocol.producer.InitProducerIdRequest,
        kafka.protocol.producer.InitProducerIdResponse,
    ),
    SASL_HANDSHAKE.key: (kafka.protocol.sasl.SaslHandshakeRequest, kafka.protocol.sasl.SaslHandshakeResponse),
    SASL_AUTHENTICATE.key: (kafka.protocol.sasl.SaslAuthenticateRequest, kafka.protocol.sasl.SaslAuthenticateResponse),
}


@contextmanager
def named_place_at_most(end: int) -> Iterator[None]:
    """Lets a MessageError pass whose offset lies in the bytes, and no other error."""
    found: MessageError | None = None
    try:
        yield
    except MessageError as wrong:
        found = wrong
    assert found is None or found.offset is None or 0 <= found.offset <= end


EVERY = [
    pytest.param(api, version, direction, id=f"{api.name}-v{version}-{direction}")
    for api in apis().values()
    for version in api.versions
    for direction in ("request", "response")
]


def encoded(body: Any, version: int, direction: Direction, correlation_id: int = 7) -> bytes:
    if direction == "request":
        return encode_request(body, version=version, correlation_id=correlation_id, client_id="sarama")
    return encode_response(body, version=version, correlation_id=correlation_id)


@pytest.mark.parametrize(("api", "version", "direction"), EVERY)
@settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_kafka_python_reads_it_and_writes_the_same_bytes(
    api: Api[Any, Any], version: int, direction: Direction, drawn: Any, data: st.DataObject
) -> None:
    body = data.draw(drawn(api, version, direction))
    if isinstance(body, ApiVersionsResponse) and body.error_code == 35:
        return  # an answer to a version that is not supported: always in version 0, tested below
    ours = encoded(body, version, direction)
    if direction == "request":
        request = decode_request(ours[4:])
        assert (request.body, request.version, request.correlation_id, request.client_id) == (
            body,
            version,
            7,
            "sarama",
        )
    else:
        assert decode_response(api, version, ours[4:]) == (7, body)
    theirs = THEIRS[api.key][0 if direction == "request" else 1]
    refusal = isinstance(body, ApiVersionsResponse) and body.error_code != 0
    if version > theirs.max_version or refusal:  # kafka-python takes every refusal of ApiVersions for version 0
        return
    stream = BytesIO(ours[4:])
    header = theirs.parse_header(stream, version=version)
    assert header.correlation_id == 7
    rest = stream.read()
    read = theirs.decode(rest, version=version)
    read._header = None  # kafka-python looks at it when it encodes, and sets it only when it decodes one
    assert read.encode(version=version) == rest


def test_kafka_python_knows_nearly_all_versions() -> None:
    """The test above looks at our own round trip alone beyond these."""
    beyond = {a.name: [v for v in a.versions if v > THEIRS[a.key][0].max_version] for a in apis().values()}
    assert sum(len(versions) for versions in beyond.values()) <= 6, beyond


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_mutated_bytes_raise_one_error_or_decode(drawn: Any, data: st.DataObject) -> None:
    api = data.draw(st.sampled_from(sorted(apis().values(), key=lambda a: a.key)))
    version = data.draw(st.sampled_from(list(api.versions)))
    direction: Direction = data.draw(st.sampled_from(("request", "response")))
    raw = bytearray(encoded(data.draw(drawn(api, version, direction)), version, direction)[4:])
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=6))
        if not raw:
            return
    with named_place_at_most(len(raw)):
        decode_request(bytes(raw)) if direction == "request" else decode_response(api, version, bytes(raw))


@settings(max_examples=300, deadline=None)
@given(raw=st.binary(max_size=200), data=st.data())
@example(raw=struct.pack(">hhih", 3, 5, 1, -1) + struct.pack(">i", 2**31 - 1), data=None)
def test_random_bytes_raise_one_error_or_decode(raw: bytes, data: st.DataObject | None) -> None:
    api = METADATA if data is None else data.draw(st.sampled_from(sorted(apis().values(), key=lambda a: a.key)))
    for version in api.versions:
        with named_place_at_most(len(raw)):
            decode_response(api, version, raw)
        header = struct.pack(">hhih", api.key, version, 1, -1)
        with named_place_at_most(len(header + raw)):
            decode_request(header + raw)


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b"\x00\x03\x00\x05", "request header at byte 0: 8 bytes expected, 4 left"),
        (struct.pack(">hhi", 3, 5, 1), "request header at byte 8: 2 bytes expected, 0 left"),
        (struct.pack(">hhih", 3, 5, 1, -5), "request header at byte 8: a length of -5 where there must be a value"),
        (struct.pack(">hhih", 3, 99, 1, -1), "Metadata request v99: this version is not known, only 0 to 13"),
        (struct.pack(">hhih", 77, 0, 1, -1), "API 77 request v0 at byte 0: this API is not known"),
        (
            struct.pack(">hhihi", 3, 5, 1, -1, 2**31 - 1) + b"\x00",
            "Metadata request v5 at byte 10: an array of 2147483647 elements in 1 bytes",
        ),
        (struct.pack(">hhihi", 3, 5, 1, -1, -2), "Metadata request v5 at byte 10: an array of length -2"),
        (struct.pack(">hhihi", 3, 5, 1, -1, -1), "Metadata request v5 at byte 14: 1 bytes expected, 0 left"),
        (
            struct.pack(">hhihi?", 3, 5, 1, -1, -1, True) + b"more",
            "Metadata request v5 at byte 15: 4 bytes are left over",
        ),
        (
            struct.pack(">hhihih", 3, 5, 1, -1, 1, 2) + b"a\xff\x01",
            "Metadata request v5 at byte 17: text that is no UTF-8",
        ),
        (
            struct.pack(">hhih", 3, 12, 1, -1) + b"\x00\xff\xff\xff\xff\xff\x01",
            "Metadata request v12 at byte 11: a varint of more than 5 bytes",
        ),
    ],
)
def test_malformed_requests_say_what_is_wrong_and_where(payload: bytes, text: str) -> None:
    with pytest.raises(MessageError) as wrong:
        decode_request(payload)
    assert str(wrong.value) == text


@pytest.mark.parametrize(
    ("body", "version", "text"),
    [
        (MetadataRequest(topics=None), 0, "Metadata request v0: topics: null where there must be an array"),
        (MetadataRequest(), 44, "Metadata request v44: this version is not known, only 0 to 13"),
        (
            ProduceRequest(acks=40000, timeout_ms=0, topic_data=()),
            3,
            "Produce request v3: acks, timeout_ms: 'h' format requires -32768 <= number <= 32767",
        ),
        (
            MetadataRequest(topics=(MetadataRequestTopic(name=None),)),
            5,
            "Metadata request v5: topics: name: null where there must be a value",
        ),
        (MetadataResponse(), 5, "Metadata request: MetadataResponse is no request"),
        ("text", 5, "request: str is no body of any API"),
    ],
)
def test_values_that_do_not_fit_name_their_field(body: object, version: int, text: str) -> None:
    with pytest.raises(MessageError) as wrong:
        encode_request(body, version=version, correlation_id=1, client_id=None)
    assert str(wrong.value) == text


def test_a_header_can_be_read_where_the_version_is_not_known() -> None:
    header = decode_request_header(struct.pack(">hhih", 18, 99, 5, 2) + b"me" + b"\xff\xff")
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (18, 99, 5, "me")


def test_an_unsupported_version_of_api_versions_is_answered_in_version_0() -> None:
    answer = encode_response(ApiVersionsResponse(error_code=35), version=0, correlation_id=9)
    for version in API_VERSIONS.versions:
        assert decode_response(API_VERSIONS, version, answer[4:]) == (9, ApiVersionsResponse(error_code=35))


def test_api_versions_has_a_plain_response_header_and_a_flexible_request_header() -> None:
    assert encode_response(ApiVersionsResponse(), version=4, correlation_id=1)[4:].hex() == "000000010000010000000000"
    request = encode_request(ApiVersionsRequest(), version=3, correlation_id=1, client_id="a")
    assert request[4:].hex() == "001200030000000100016100010100"


def test_sarama_reads_this_metadata_response() -> None:
    """Source: Shopify/sarama v1.27.2 metadata_response_test.go, noBrokersOneTopicWithOfflineReplicasV5."""
    theirs = bytes.fromhex(
        "00000005" "00000000" "0009636c75737465724964" "00000002" "00000001"
        "0000" "0003666f6f" "00" "00000001" "0004" "00000001" "00000007"
        "00000003000000010000000200000003" "000000020000000100000002" "0000000100000003"
    )  # fmt: skip
    body = MetadataResponse(
        throttle_time_ms=5,
        cluster_id="clusterId",
        controller_id=2,
        topics=(
            MetadataResponseTopic(
                name="foo",
                partitions=(
                    MetadataResponsePartition(
                        error_code=4,
                        partition_index=1,
                        leader_id=7,
                        replica_nodes=(1, 2, 3),
                        isr_nodes=(1, 2),
                        offline_replicas=(3,),
                    ),
                ),
            ),
        ),
    )
    assert encode_response(body, version=5, correlation_id=0)[8:] == theirs
    assert decode_response(METADATA, 5, bytes(4) + theirs) == (0, body)


def test_sarama_writes_this_produce_request() -> None:
    """Source: Shopify/sarama v1.27.2 produce_request_test.go, produceRequestOneRecord, its records left out."""
    theirs = bytes.fromhex("ffff012300000444000000010005746f70696300000001000000ad000000020102")
    body = ProduceRequest(
        acks=0x123,
        timeout_ms=0x444,
        topic_data=(
            TopicProduceData(name="topic", partition_data=(PartitionProduceData(index=0xAD, records=b"\x01\x02"),)),
        ),
    )
    sent = encode_request(body, version=3, correlation_id=0, client_id=None)
    assert sent[4 + 10 :] == theirs
    assert decode_request(sent[4:]).body == body


def test_a_field_that_a_version_lacks_is_left_out_and_keeps_its_default() -> None:
    full = PartitionProduceResponse(index=0, base_offset=3, log_start_offset=2, error_message="no")
    body = ProduceResponse(responses=(TopicProduceResponse(name="t", partition_responses=(full,)),))
    _, found = decode_response(PRODUCE, 3, encode_response(body, version=3, correlation_id=0)[4:])
    assert found.responses[0].partition_responses == (PartitionProduceResponse(index=0, base_offset=3),)


def test_unknown_tagged_fields_are_skipped() -> None:
    with_tags = struct.pack(">i", 1) + bytes.fromhex("00000100000000026301aa6402bbbb")
    assert decode_response(API_VERSIONS, 4, with_tags) == (1, ApiVersionsResponse())
    cut = struct.pack(">i", 1) + bytes.fromhex("00000100000000016305aa")
    with pytest.raises(MessageError, match="5 bytes expected, 1 left"):
        decode_response(API_VERSIONS, 4, cut)


def test_two_apis_never_share_a_body() -> None:
    found = [body for api in apis().values() for body in (api.request, api.response)]
    assert len(set(found)) == len(found)
    assert {a.name for a in apis().values()} >= {"Produce", "Fetch", "ListOffsets", "Metadata", "ApiVersions"}
