"""Protects evidence of an interval: what met the client's traffic then, and nothing of the lab's own probes."""

import asyncio
from typing import Any

import pytest
from talk import Talk, produce

from harness.environments.world import ActiveLever, World
from harness.levers import (
    CloseListener,
    ConnectionsCut,
    DialsRefused,
    ErrorAnswer,
    FilterPackets,
    Intercept,
    Lever,
    PacketAction,
    RequestsIntercepted,
    RequestsUnread,
    Signal,
    Silence,
    Toxic,
)

SLOW = Toxic(broker=1, flow="to_broker", kind="latency", attributes=(("latency", 200),))
PAUSE_S = 0.3
"""Longer than what was sent is under way, and than counters are sampled."""


def drop(**more: Any) -> FilterPackets:
    return FilterPackets(broker=1, verdict=PacketAction.DROP, **{"flow": "to_broker", **more})


async def amount(pulled: ActiveLever, since_ns: int | None, until_ns: int | None) -> float:
    return (await pulled.evidence(since_ns, until_ns)).amount


async def a_while(world: World) -> int:
    """The end of an interval, and the beginning of another one."""
    await asyncio.sleep(PAUSE_S)
    now_ns = world.now_ns()
    await asyncio.sleep(PAUSE_S)
    return now_ns


async def refused_dial(world: World) -> None:
    with pytest.raises(ConnectionRefusedError):
        await Talk.to(world)


@pytest.mark.parametrize(
    "more", [{}, {"hook": "sender"}, {"only": "data"}, {"flow": "to_client"}, {"chance": 0.999999}]
)
async def test_dropped_packets_are_known_by_their_time(world: World, more: dict[str, Any]) -> None:
    talk = await Talk.to(world)
    await asyncio.sleep(PAUSE_S)
    async with world.pull(drop(**more)) as dropping:
        quiet_ns = await a_while(world)
        talk.send(produce(b"lost"))
        busy_ns = await a_while(world)
        assert await amount(dropping, None, quiet_ns) == 0
        during = await amount(dropping, quiet_ns, busy_ns)
        assert 1 <= during <= await amount(dropping, quiet_ns, None) <= await amount(dropping, None, None)
    assert await amount(dropping, quiet_ns, busy_ns) == during
    talk.abandon()


@pytest.mark.parametrize(
    "lever",
    [FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.REFUSE), CloseListener(broker=1)],
)
async def test_refused_dials_are_known_by_their_time(world: World, lever: Lever) -> None:
    async with world.pull(lever) as refusing:
        await refused_dial(world)
        await refused_dial(world)
        first_ns = await a_while(world)
        await refused_dial(world)
        assert await refusing.evidence(None, first_ns) == DialsRefused(dials=2)
        assert await refusing.evidence(first_ns, world.now_ns()) == DialsRefused(dials=1)
        assert await refusing.evidence() == DialsRefused(dials=3)
    assert await refusing.evidence(first_ns, None) == DialsRefused(dials=1)


@pytest.mark.parametrize("kind", ["kill", "restart"])
async def test_connections_are_cut_at_the_moment_at_which_a_process_ends(world: World, kind: Any) -> None:
    talk = await Talk.to(world)
    before_ns = await a_while(world)
    async with world.pull(Signal(broker=1, kind=kind)) as ended:
        after_ns = await a_while(world)
        assert await talk.reader.read() == b""
        assert await ended.evidence(None, before_ns) == ConnectionsCut()
        assert await ended.evidence(before_ns, after_ns) == ConnectionsCut(connections=1)
        if kind == "kill":
            await refused_dial(world)
            assert await ended.evidence(after_ns, None) == ConnectionsCut(dials=1)
        else:
            assert await ended.evidence(after_ns, None) == ConnectionsCut()


async def test_resets_are_known_by_their_time_and_end_with_the_last_one_allowed(world: World) -> None:
    lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.RESET, only="data", at_most=1)
    talk = await Talk.to(world)
    async with world.pull(lever) as resetting:
        with pytest.raises(ConnectionResetError):
            await talk.ask(produce(b"lost"))
        reset_ns = await a_while(world)
        await (await Talk.to(world)).ask(produce(b"passes"))
        assert await resetting.evidence(None, reset_ns) == ConnectionsCut(connections=1)
        assert await resetting.evidence(reset_ns, None) == ConnectionsCut()


async def test_connections_with_unread_requests_are_known_by_the_time_of_the_requests(world: World) -> None:
    talk, other = await Talk.to(world), await Talk.to(world)
    async with world.pull(Signal(broker=1, kind="pause")) as paused:
        quiet_ns = await a_while(world)
        talk.send(produce(b"one"))
        talk.send(produce(b"two"))
        one_ns = await a_while(world)
        other.send(produce(b"three"))
        await a_while(world)
        assert await paused.evidence(None, quiet_ns) == RequestsUnread()
        assert await paused.evidence(quiet_ns, one_ns) == RequestsUnread(connections=1)
        assert await paused.evidence(quiet_ns, None) == RequestsUnread(connections=2)


async def test_intercepted_requests_are_known_by_their_time(world: World) -> None:
    refusing = Intercept(broker=1, answer=ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="produce")
    talk = await Talk.to(world)
    async with world.pull(refusing) as refused:
        await talk.ask(produce(b"no"))
        await talk.ask(produce(b"no"))
        first_ns = await a_while(world)
        await talk.ask(produce(b"no"))
        assert await refused.evidence(None, first_ns) == RequestsIntercepted(requests=2)
        assert await refused.evidence(first_ns, None) == RequestsIntercepted(requests=1)


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_a_toxic_has_no_effect_while_the_client_sends_nothing_through_it(world: World, flow: Any) -> None:
    talk = await Talk.to(world)
    lever = Toxic(broker=1, flow=flow, kind="latency", attributes=(("latency", 200),))
    async with world.pull(lever) as slowing:
        quiet_ns = await a_while(world)
        await talk.ask(produce(b"late"))
        assert await amount(slowing, None, None) >= 0.9 * 0.2
        assert await amount(slowing, None, quiet_ns) == 0
        assert await amount(slowing, quiet_ns, None) == await amount(slowing, None, None)


@pytest.mark.parametrize(
    "lever", [drop(), drop(hook="sender"), CloseListener(broker=1), Intercept(broker=1, answer=Silence())]
)
async def test_the_labs_own_probes_are_no_traffic_of_the_client(world: World, lever: Lever) -> None:
    async with world.pull(lever) as meeting:
        began_ns = meeting.began_ns
        async with world.pull(SLOW) as slowing:
            await asyncio.sleep(PAUSE_S)
            assert await amount(slowing, began_ns, None) == 0
        assert await amount(meeting, None, None) >= 1
        assert await amount(meeting, began_ns, None) == 0


async def test_a_packet_is_counted_once_under_two_rules(world: World) -> None:
    """The first rule has it, the second one sees nothing."""
    async with world.pull(drop()) as first, world.pull(drop()) as second:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(PAUSE_S):
                await Talk.to(world)
        assert await amount(first, first.began_ns, None) >= 1
        assert await amount(second, first.began_ns, None) == 0
