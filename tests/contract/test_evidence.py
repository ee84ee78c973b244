"""Protects evidence of an interval: what met the client's traffic then, and nothing of the lab's own probes."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest
from intervals import PAUSE_S, a_while, amount, refused_dial
from talk import Talk, produce

from harness.environments.linux.addresses import PROBES
from harness.environments.probe import ProbeFailed, round_trip_s
from harness.environments.world import World
from harness.levers import (
    CloseListener,
    ConnectionsCut,
    DialsRefused,
    ErrorAnswer,
    FilterPackets,
    Flow,
    Intercept,
    Lever,
    PacketAction,
    RequestsIntercepted,
    Signal,
    Silence,
    Toxic,
)


def drop(**more: Any) -> FilterPackets:
    return FilterPackets(broker=1, verdict=PacketAction.DROP, **{"flow": "to_broker", **more})


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


def toxic(kind: str, flow: Flow = "to_broker", **attributes: int) -> Toxic:
    return Toxic(broker=1, flow=flow, kind=kind, attributes=tuple(attributes.items()))


async def probed(world: World) -> None:
    with suppress(ProbeFailed):
        await round_trip_s(world.advertised_address(1), limit_s=PAUSE_S, source=PROBES)


@pytest.mark.parametrize(
    "lever", [drop(), drop(hook="sender"), CloseListener(broker=1), Intercept(broker=1, answer=Silence())]
)
async def test_the_labs_own_probes_are_no_traffic_of_the_client(world: World, lever: Lever) -> None:
    async with world.pull(lever) as meeting:
        await probed(world)
        await asyncio.sleep(PAUSE_S)
        assert await amount(meeting, None, None) >= 1
        assert await amount(meeting, meeting.began_ns, None) == 0


TOXICS = (
    (toxic("latency", latency=100), 0.1),
    (toxic("latency", "to_client", latency=100, jitter=20), 0.08),
    (toxic("bandwidth", rate=1), 0.05),
    (toxic("bandwidth", "to_client", rate=1), 0.02),
    (toxic("slicer", average_size=20, delay=1_000), 3.0),
    (toxic("slicer", "to_client", average_size=20), 1.0),
    (toxic("timeout", timeout=0), 100.0),
    (toxic("timeout", "to_client", timeout=0), 30.0),
    (toxic("timeout", timeout=100), 100.0),
    (toxic("limit_data", bytes=10), 1.0),
    (toxic("limit_data", "to_client", bytes=10), 1.0),
    (toxic("reset_peer", timeout=50), 1.0),
    (toxic("reset_peer", "to_client", timeout=50), 1.0),
)
"""With the least that is seen of each where a client sends one message of a hundred bytes and waits for the answer."""


@pytest.mark.parametrize(("lever", "least"), TOXICS, ids=lambda value: getattr(value, "kind", ""))
async def test_a_toxic_is_seen_in_what_it_does_to_the_client_and_when(world: World, lever: Toxic, least: float) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(lever) as meeting:
        await probed(world)
        quiet_ns = await a_while(world)
        idle_ended = talk.reader.at_eof()
        assert await amount(meeting, None, None) == idle_ended, "the lab's own probe"
        assert idle_ended == bool(lever.kind == "timeout" and dict(lever.attributes)["timeout"])
        if idle_ended:
            talk = await Talk.to(world)
        with suppress(TimeoutError, OSError, EOFError):
            await talk.ask(produce(bytes(100)), within_s=1.0)
        busy_ns = await a_while(world)
        seen = await amount(meeting, quiet_ns, busy_ns)
        assert least <= seen + 1e-6
        assert seen >= lever.enough
        assert await amount(meeting, None, quiet_ns) == idle_ended
        assert await amount(meeting, busy_ns, None) == 0
        assert await amount(meeting, None, None) == seen + idle_ended
    assert await amount(meeting, quiet_ns, busy_ns) == seen
    talk.abandon()


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_idle_connections_that_end_with_the_removal_of_a_timeout_are_proof_of_it(
    world: World, flow: Flow
) -> None:
    lever = toxic("timeout", flow, timeout=0)
    assert lever.acts_while_undone
    talk = await Talk.to(world)
    async with world.pull(lever) as meeting:
        assert await amount(meeting, None, None) == 0
        quiet_ns = await a_while(world)
        await meeting.begin_undoing()
    with suppress(ConnectionError):
        assert await talk.reader.read() == b""
    assert await amount(meeting, quiet_ns, None) == 1
    assert await amount(meeting, None, quiet_ns) == 0
    talk.abandon()


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_bytes_that_are_held_when_a_delay_is_removed_are_proof_of_it(world: World, flow: Flow) -> None:
    talk = await Talk.to(world)
    lever = toxic("latency", flow, latency=10_000)
    async with world.pull(lever) as meeting:
        quiet_ns = await a_while(world)
        talk.send(produce(b"held"))
        busy_ns = await a_while(world)
        assert await amount(meeting, None, None) >= lever.enough
        assert await amount(meeting, None, quiet_ns) == 0
    assert len(await talk.reader.read(1)) == 1, "it is released when the delay is removed"
    assert await amount(meeting, quiet_ns, busy_ns) >= lever.enough
    assert await amount(meeting, busy_ns, None) == 0
    talk.abandon()


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_a_connection_that_ends_while_a_reset_is_removed_is_proof_of_it(world: World, flow: Flow) -> None:
    """The removal waits for it: the client loses its connection, or what it sent, all the same."""
    lever = toxic("reset_peer", flow, timeout=1_000)
    assert lever.acts_while_undone
    talk = await Talk.to(world)
    async with world.pull(lever) as meeting:
        quiet_ns = await a_while(world)
        talk.send(produce(b"lost"))
        await a_while(world)
        assert await amount(meeting, None, None) == 0
    assert await amount(meeting, quiet_ns, None) == 1
    assert await amount(meeting, None, quiet_ns) == 0
    talk.abandon()


@pytest.mark.parametrize("lever", [lever for lever, _ in TOXICS[::2]], ids=lambda lever: lever.kind)
async def test_a_toxic_that_spares_every_connection_is_never_seen(world: World, lever: Toxic) -> None:
    async with world.pull(replace(lever, toxicity=0.0)) as meeting:
        talk = await Talk.to(world)
        await talk.ask(produce(bytes(100)))
        talk.abandon()
        await asyncio.sleep(PAUSE_S)
        assert await amount(meeting, None, None) < lever.enough


async def test_the_end_of_a_connection_is_seen_to_come_late(world: World) -> None:
    talk, other = await Talk.to(world), await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(toxic("slow_close", delay=200)) as meeting:
        other.send(produce(b"meanwhile"))
        quiet_ns = await a_while(world)
        assert await amount(meeting, None, None) == 0
        talk.abandon()
        await a_while(world)
        assert 0.2 - 1e-3 <= await amount(meeting, quiet_ns, None) <= 0.2 + PAUSE_S
    other.abandon()


async def test_the_end_of_a_connection_that_is_held_still_is_late_by_all_that_it_is_held_for(world: World) -> None:
    """A fault may be healed meanwhile: nothing more is seen of it then."""
    talk, other = await Talk.to(world), await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(toxic("slow_close", delay=60_000)) as meeting:
        other.send(produce(b"meanwhile"))
        quiet_ns = await a_while(world)
        talk.abandon()
        assert await amount(meeting, None, quiet_ns) == 0
        busy_ns = await a_while(world)
        assert await amount(meeting, quiet_ns, busy_ns) >= 60
        assert await amount(meeting, busy_ns, None) == 0
    assert await amount(meeting, quiet_ns, busy_ns) >= 60
    other.abandon()


async def test_the_end_of_a_connection_that_its_other_end_has_closed_is_held_by_nothing(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(toxic("slow_close", delay=60_000)) as meeting, world.pull(Signal(broker=1, kind="kill")):
        with suppress(ConnectionError):
            assert await talk.reader.read() == b""
        talk.abandon()
        await a_while(world)
        assert await amount(meeting, None, None) == 0


async def test_what_ends_connections_elsewhere_is_no_proof_of_a_toxic(world: World) -> None:
    spared = [toxic("timeout", timeout=60_000), toxic("reset_peer", timeout=5_000)]
    levers = [toxic("limit_data", bytes=1_000_000), *(replace(lever, toxicity=0.0) for lever in spared)]
    talk = await Talk.to(world)
    async with AsyncExitStack() as stack:
        pulled = [await stack.enter_async_context(world.pull(lever)) for lever in levers]
        await talk.ask(produce(b"passes"))
        for lever in (Signal(broker=1, kind="kill"), CloseListener(broker=1)):
            async with world.pull(lever):
                with suppress(ConnectionError):
                    assert await talk.reader.read() == b""
                await refused_dial(world)
            talk = await Talk.to(world)
            await talk.ask(produce(b"again"))
        assert [await amount(one, None, None) for one in pulled] == [0, 0, 0]
        talk.abandon()


async def test_a_packet_is_counted_once_under_two_rules(world: World) -> None:
    """The first rule has it, the second one sees nothing."""
    async with world.pull(drop()) as first, world.pull(drop()) as second:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(PAUSE_S):
                await Talk.to(world)
        assert await amount(first, first.began_ns, None) >= 1
        assert await amount(second, first.began_ns, None) == 0
