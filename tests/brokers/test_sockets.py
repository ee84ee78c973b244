"""Protects the broker's manners on a socket: order, half-close, cut and bad bytes, and that none of it hurts others."""

import logging
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from client.wire.apis.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from client.wire.apis.metadata import METADATA, MetadataRequest
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.frames import frame
from client.wire.messages import encode_request
from client.wire.records import Record, encode_batch
from harness.brokers.embedded.handlers import handlers


def produce(*values: bytes, acks: int = -1, partition: int = 0, topic: str = "orders") -> ProduceRequest:
    records = [Record(offset_delta=i, value=v) for i, v in enumerate(values)]
    data = PartitionProduceData(index=partition, records=encode_batch(records, base_timestamp_ms=1))
    return ProduceRequest(
        acks=acks, timeout_ms=1000, topic_data=(TopicProduceData(name=topic, partition_data=(data,)),)
    )


def fetch(offset: int, *, max_wait_ms: int, min_bytes: int = 1) -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10**6)
    topics = (FetchTopic(topic="orders", partitions=(asked,)),)
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=topics)


def test_pipelined_requests_are_answered_in_order(raw: Any) -> None:
    raw.send(produce(b"1"), 3)
    raw.send(fetch(1, max_wait_ms=50), 4)  # waits: what comes after it waits, too
    raw.send(MetadataRequest(topics=None), 5)
    assert [raw.receive(api, v)[0] for api, v in ((produce_api(), 3), (FETCH, 4), (METADATA, 5))] == [1, 2, 3]


def produce_api() -> Any:
    return handlers()[0].api


def test_a_request_in_single_bytes(raw: Any) -> None:
    for byte in encode_request(MetadataRequest(topics=None), version=5, correlation_id=9, client_id=None):
        raw.sock.sendall(bytes([byte]))
    assert raw.receive(METADATA, 5)[0] == 9


def test_half_closed_it_still_gets_its_answers(raw: Any) -> None:
    raw.send(produce(b"1"), 3)
    raw.send(fetch(1, max_wait_ms=30), 4)
    raw.sock.shutdown(socket.SHUT_WR)
    assert raw.receive(produce_api(), 3)[0] == 1
    assert raw.receive(FETCH, 4)[0] == 2
    assert raw.frame() is None


@pytest.mark.parametrize(
    ("sent", "logged"),
    [
        (struct.pack(">i", -1), "a frame's size is negative: -1"),
        (b"GET / HTTP/1.1\r\n\r\n", "a frame's size of 1195725856 bytes is over the limit"),
        (frame(b""), "request header at byte 0: 8 bytes expected, 0 left"),
        (frame(struct.pack(">hhih", 3, 5, 1, -1) + b"\x7f\xff\xff\xff"), "an array of 2147483647 elements in 0 bytes"),
        (frame(struct.pack(">hhih", 3, 99, 1, 2) + b"me"), "Metadata v99 is not supported (client me)"),
        (frame(struct.pack(">hhih", 999, 0, 1, -1)), "API 999 is not supported (client None)"),
    ],
)
def test_bad_bytes_end_this_connection_only(
    sent: bytes, logged: str, raw: Any, cluster: Any, caplog: pytest.LogCaptureFixture
) -> None:
    other = cluster.dial(1)
    with caplog.at_level(logging.WARNING):
        raw.sock.sendall(encode_request(MetadataRequest(), version=5, correlation_id=7, client_id=None) + sent)
        assert raw.receive(METADATA, 5)[0] == 7  # what was whole before is answered
        assert raw.frame() is None
    assert "broker 1 closes the connection from ('127.0.0.1'" in caplog.text
    assert logged in caplog.text
    assert other.ask(MetadataRequest(), 5).controller_id == 1
    other.sock.close()


@pytest.mark.parametrize("linger_s", [None, 0], ids=["end of stream", "reset"])
def test_a_client_that_goes_in_the_middle_of_a_frame(
    linger_s: int | None, raw: Any, cluster: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    raw.sock.sendall(struct.pack(">i", 100) + b"part")
    if linger_s is not None:
        raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, linger_s))
    raw.sock.close()
    until = time.monotonic() + 5
    expected = "4 of 100 bytes" if linger_s is None else "lost the connection"
    while expected not in caplog.text:
        assert time.monotonic() < until, caplog.text
        time.sleep(0.001)
    assert cluster.dial(1).ask(MetadataRequest(), 5).controller_id == 1


def test_api_versions_of_the_future(raw: Any) -> None:
    raw.sock.sendall(frame(struct.pack(">hhih", 18, 77, 3, -1) + b"\x00whatever comes then"))
    correlation_id, answer = raw.receive(API_VERSIONS, 0)
    assert (correlation_id, answer.error_code) == (3, 35)
    assert [(a.api_key, a.min_version, a.max_version) for a in answer.api_keys] == [(18, 0, 4)]
    answer = raw.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 4)
    assert answer.error_code == 0
    assert {a.api_key: (a.min_version, a.max_version) for a in answer.api_keys} == {
        k: (h.versions[0], h.versions[-1]) for k, h in handlers().items()
    }


def test_every_version_that_is_promised_is_served(raw: Any) -> None:
    """Each handler answers the plainest request at each of its versions."""
    asked: dict[int, Callable[[], object]] = {
        0: lambda: produce(b"x"),
        1: lambda: fetch(0, max_wait_ms=0),
        2: lambda: handlers()[2].api.request(topics=()),
        3: lambda: MetadataRequest(topics=()),
        18: ApiVersionsRequest,
        19: lambda: handlers()[19].api.request(topics=(), timeout_ms=0),
        22: lambda: handlers()[22].api.request(),
    }
    served = {key: handler for key, handler in handlers().items() if not handler.authenticates}
    assert set(asked) == set(served)
    for key, handler in served.items():
        for version in handler.versions:
            answer = raw.ask(asked[key](), version)
            assert getattr(answer, "error_code", 0) == 0, (handler.api.name, version)


def test_acks_0_is_not_answered(raw: Any) -> None:
    raw.send(produce(b"quiet", acks=0), 3)
    assert raw.ask(produce(b"loud"), 3).responses[0].partition_responses[0].base_offset == 1


def test_acks_0_with_an_error_closes_the_connection(raw: Any, caplog: pytest.LogCaptureFixture) -> None:
    raw.send(produce(b"lost", acks=0, topic="nowhere"), 3)
    assert raw.frame() is None
    assert "nowhere-0 with acks 0: UNKNOWN_TOPIC_OR_PARTITION" in caplog.text


def test_a_long_poll_ends_when_a_record_comes(raw: Any, cluster: Any) -> None:
    began_s = time.monotonic()
    raw.send(fetch(0, max_wait_ms=20_000), 11)
    other = cluster.dial(1)
    other.ask(produce(b"news"), 3)
    _, answer = raw.receive(FETCH, 11)
    assert answer.responses[0].partitions[0].high_watermark == 1
    assert time.monotonic() - began_s < 10
    other.sock.close()


def test_a_long_poll_ends_when_its_time_is_over(raw: Any) -> None:
    began_s = time.monotonic()
    answer = raw.ask(fetch(0, max_wait_ms=80), 11)
    assert answer.responses[0].partitions[0].records == b""
    assert time.monotonic() - began_s >= 0.08


def test_stopping_drops_idle_and_waiting_clients(clusters: Any) -> None:
    cluster = clusters()
    idle, waiting = cluster.dial(1), cluster.dial(1)
    for one in (idle, waiting):
        one.ask(MetadataRequest(), 5)  # the loop has accepted it; what lies in the backlog is the kernel's to drop
    waiting.send(fetch(0, max_wait_ms=60_000), 11)
    cluster.call(cluster.brokers[1].stop())
    assert idle.frame() is None
    assert waiting.frame() is None
    with pytest.raises(ConnectionRefusedError):
        cluster.dial(1)
