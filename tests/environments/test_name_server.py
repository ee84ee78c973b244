"""Protects the name server of a run: whatever a client sends to it, it answers or leaves alone, and goes on."""

import asyncio
import struct

import pytest

from client.net.dns import Question, RecordKind, decode_answer, encode_question
from harness.brokers.names import broker_name
from harness.environments.name_server import NameServer
from harness.plan import ClusterShape, Topic

CLIENT = ("127.0.0.1", 5353)
HEADER = struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0)
ASKED = struct.pack("!2H", RecordKind.A, 1)


class Sent(asyncio.DatagramTransport):
    def __init__(self) -> None:
        super().__init__()
        self.datagrams: list[bytes] = []

    def sendto(self, data: bytes, addr: object = None) -> None:  # type: ignore[override]
        self.datagrams.append(data)


@pytest.mark.parametrize(
    "data",
    [b"", HEADER, HEADER + b"\0" + ASKED, HEADER + b"\x02\xc3\xa9\0" + ASKED, HEADER + b"\x3fa\0", b"\xff" * 64],
    ids=["empty", "no question", "the root", "no ASCII", "cut off", "noise"],
)
def test_what_is_no_question_about_a_host_ends_nothing(data: bytes) -> None:
    async def test() -> list[bytes]:
        sent = Sent()
        cluster = ClusterShape(brokers=1, topics=(Topic(name="orders"),))
        server = NameServer(cluster, lambda broker: (f"127.0.2.{broker}", 9092), lambda: 0)
        server.connection_made(sent)
        server.datagram_received(data, CLIENT)
        server.datagram_received(encode_question(Question(8, broker_name(1), RecordKind.A)), CLIENT)
        await asyncio.sleep(0.01)
        return sent.datagrams

    answer = decode_answer(asyncio.run(test())[-1])
    assert (answer.number, answer.addresses) == (8, ("127.0.2.1",))
