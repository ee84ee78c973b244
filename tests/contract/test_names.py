"""Protects name look-ups in each world: the same code asks the run's own name server, which says who a broker is, lies
as its levers say, and tells the truth again once they are undone."""

import asyncio
from random import Random

import pytest
from talk import Talk
from toolkit import now_s

from client.golang import GoResolver
from client.net.errors import NetError, ResolveError
from client.net.tcp import connect
from client.wire.apis.metadata import MetadataRequest
from harness.brokers.names import NAME_SERVER
from harness.environments.sim.loop import SimLoop
from harness.environments.world import World
from harness.levers import DARK_IPV6, REFUSED, AnswerNames, LookupsMet

FIRST, SECOND, UNKNOWN = "broker-1.kafka.test", "broker-2.kafka.test", "broker-9.kafka.test"


async def resolved(name: str) -> tuple[str, ...]:
    return await GoResolver(NAME_SERVER, Random(1)).resolve(name)


async def test_brokers_are_advertised_by_names_and_their_names_are_known(named_world: World) -> None:
    assert named_world.advertised_address(1) == (FIRST, 9092)
    assert named_world.advertised_address(101) == ("127.0.2.101", 9092)
    assert await resolved(FIRST) == ("127.0.2.1",)
    assert await resolved(SECOND.upper()) == ("127.0.2.2",)
    with pytest.raises(ResolveError):
        await resolved(UNKNOWN)
    loop = asyncio.get_running_loop()
    if not isinstance(loop, SimLoop):  # and by any program of a cell, through libc
        found = await loop.getaddrinfo(FIRST, 9092)
        assert {address[0] for *_, address in found} == {"127.0.2.1"}


async def test_brokers_name_one_another_by_their_names(named_world: World) -> None:
    """What clients dial once they have asked: an address here would let them past the name server."""
    talk = Talk(*await asyncio.open_connection("127.0.2.1", 9092))
    told = await talk.ask(MetadataRequest(topics=None))
    assert {broker.node_id: (broker.host, broker.port) for broker in told.brokers} == {
        1: (FIRST, 9092),
        2: (SECOND, 9092),
    }
    talk.abandon()


async def test_lies_are_told_of_one_name_and_end(named_world: World) -> None:
    for lever, expected in [
        (AnswerNames(broker=1, addresses=(REFUSED,)), ("127.0.2.254",)),
        (AnswerNames(broker=1, addresses=(2,)), ("127.0.2.2",)),
        (AnswerNames(broker=1, addresses=(2, 1)), ("127.0.2.2", "127.0.2.1")),
        (AnswerNames(broker=1, addresses=(1, DARK_IPV6)), ("::1", "127.0.2.1")),
    ]:
        async with named_world.pull(lever) as lying:
            assert await resolved(FIRST) == expected
            assert await resolved(SECOND) == ("127.0.2.2",)
            assert await lying.evidence() == LookupsMet(questions=2)  # of each family
        assert await resolved(FIRST) == ("127.0.2.1",)
    async with named_world.pull(AnswerNames(broker=1, addresses=())):
        with pytest.raises(ResolveError):
            await resolved(FIRST)


async def test_late_answers_add_up_and_evidence_has_its_interval(named_world: World) -> None:
    async with (
        named_world.pull(AnswerNames(broker=1, delay_s=0.3)) as late,
        named_world.pull(AnswerNames(broker=1, delay_s=0.4, addresses=(2,))),
    ):
        began_s, began_ns = now_s(), named_world.now_ns()
        assert await resolved(FIRST) == ("127.0.2.2",)
        assert now_s() - began_s >= 0.69
        assert await late.evidence(began_ns, named_world.now_ns()) == LookupsMet(questions=2)
        assert await late.evidence(named_world.now_ns(), None) == LookupsMet()


async def test_the_dead_address_of_ipv6_answers_nothing(named_world: World) -> None:
    async with named_world.pull(AnswerNames(broker=1, addresses=(DARK_IPV6,))):
        with pytest.raises(NetError, match="timeout"):
            await connect("::1", 9092, deadline_at=now_s() + 0.4, keep_alive=None)
