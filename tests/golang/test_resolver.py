"""Protects Go's resolver: how often it asks, for how long, and which of a name's addresses come first."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from client.golang import GoResolver, go_error_text, resolve_within
from client.net.dns import Answer, Question, RecordKind, ResponseCode, decode_question, encode_answer
from client.net.errors import Cause, NetError, Phase
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.simulation import simulate

SERVER = ("127.0.6.1", 53)
Answering = Callable[[Question], Answer | None]


class Scripted(asyncio.DatagramProtocol):
    """A name server that answers as it is told to, or not."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self.asked: list[Question] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.DatagramTransport)
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.asked.append(question := decode_question(data))
        answer = self._answering(question)
        if answer is not None:
            self._transport.sendto(encode_answer(question, answer), addr)


def looked_up(answering: Answering, *, within_s: float | None = None) -> tuple[tuple[str, ...] | NetError, float, int]:
    """What a look-up came to, after how many seconds, and how many questions it took."""

    async def main(loop: SimLoop) -> tuple[tuple[str, ...] | NetError, float, int]:
        server = Scripted(answering)
        await loop.create_datagram_endpoint(lambda: server, local_addr=SERVER)
        began_s = loop.time()
        deadline_at = None if within_s is None else began_s + within_s
        found: tuple[str, ...] | NetError
        try:
            found = await resolve_within(GoResolver(SERVER, Random(1)), "kafka.test", deadline_at)
        except NetError as failed:
            found = failed.again()
        return found, loop.time() - began_s, len(server.asked)

    return simulate(main, Random(1))


def with_addresses(*addresses: str) -> Answering:
    def answer(question: Question) -> Answer:
        kind = RecordKind(question.kind)
        return Answer(question.number, ResponseCode.NO_ERROR, tuple(one for one in addresses if kind.holds(one)))

    return answer


def test_loopback_of_ipv6_comes_first_and_the_servers_order_stays() -> None:
    found, taken_s, asked = looked_up(with_addresses("127.0.2.2", "127.0.2.1", "::1", "fd00::1"))
    assert found == ("::1", "127.0.2.2", "127.0.2.1", "fd00::1")
    assert taken_s < 0.01
    assert asked == 2


def test_a_silent_server_is_asked_twice_for_five_seconds_each() -> None:
    found, taken_s, asked = looked_up(lambda _: None)
    assert isinstance(found, NetError)
    assert (found.phase, found.cause) == (Phase.RESOLVE, Cause.TIMEOUT)
    assert taken_s == pytest.approx(10.0, abs=0.01)
    assert asked == 4


def test_the_dial_that_it_is_for_ends_it() -> None:
    found, taken_s, asked = looked_up(lambda _: None, within_s=0.4)
    assert isinstance(found, NetError)
    assert (found.phase, found.cause) == (Phase.RESOLVE, Cause.TIMEOUT)
    assert taken_s == pytest.approx(0.4)
    assert asked == 2


def test_both_families_are_waited_for() -> None:
    silent_on_ipv6 = with_addresses("127.0.2.1")
    found, taken_s, _ = looked_up(lambda q: silent_on_ipv6(q) if q.kind == RecordKind.A else None)
    assert found == ("127.0.2.1",)
    assert taken_s == pytest.approx(10.0, abs=0.01)


@pytest.mark.parametrize("code", [ResponseCode.NO_SUCH_NAME, ResponseCode.NO_ERROR])
def test_no_such_name_and_no_address_are_the_same_to_go(code: ResponseCode) -> None:
    found, taken_s, asked = looked_up(lambda question: Answer(question.number, code))
    assert isinstance(found, NetError)
    assert found.cause is Cause.NO_SUCH_HOST
    assert go_error_text(found) == "dial tcp: lookup kafka.test on 127.0.6.1:53: no such host"
    assert (taken_s < 0.01, asked) == (True, 2)


def test_a_server_in_trouble_is_asked_again_at_once() -> None:
    found, taken_s, asked = looked_up(lambda question: Answer(question.number, ResponseCode.SERVER_FAILURE))
    assert isinstance(found, NetError)
    assert "server misbehaving" in found.detail
    assert (taken_s < 0.01, asked) == (True, 4)
