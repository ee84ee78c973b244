"""Protects what a bad line does to packets: late, lost, twice, in another order; with what the kernels make of it, and
with nothing left once it is healed: on simulated sockets as on real ones."""

import asyncio
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from machine_noise import Lateness
from talk import Talk, produce, produced, values
from toolkit import ADDRESS, Toolkit, now_s, serve, since

from harness.environments.sim.loop import SimLoop
from harness.environments.sim.round_trip import RoundTrip
from harness.environments.world import World
from harness.levers import (
    FLOWS,
    Delays,
    FilterPackets,
    Flow,
    PacketAction,
    PacketsDelayed,
    PacketsDropped,
    PacketsDuplicated,
    PacketsReordered,
)


@cache
def lateness(_process: int) -> Lateness:
    """Of the machine, since this process first asked for it: a cell is a process of its own."""
    return Lateness()


def slack_s() -> float:
    virtual = isinstance(asyncio.get_running_loop(), SimLoop)
    return 0.005 if virtual else 0.3 + lateness(os.getpid()).total_s


def late(seconds: float, flow: Flow = "to_broker", **more: Any) -> FilterPackets:
    how: dict[str, Any] = {key: more.pop(key) for key in ("jitter_s", "seed") if key in more}
    delays = Delays(seconds=(seconds,), **how)
    return FilterPackets(broker=1, flow=flow, verdict=PacketAction.DELAY, delays=delays, **more)


def assert_took(taken_s: float, least_s: float) -> None:
    assert least_s <= taken_s <= least_s + slack_s()


async def asked_s(talk: Talk, value: bytes) -> float:
    began_s = now_s()
    assert produced(await talk.ask(produce(value)))[0] == 0
    return since(began_s)


async def test_late_packets_make_dials_and_requests_late_and_delays_add_up(world: World) -> None:
    lateness(os.getpid())
    async with world.pull(late(0.1)) as there, world.pull(late(0.2, "to_client")) as back:
        began_s = now_s()
        talk = await Talk.to(world)
        assert_took(since(began_s), 0.3)
        assert_took(await asked_s(talk, b"late"), 0.3)
        async with world.pull(late(0.3)):
            assert_took(await asked_s(talk, b"later"), 0.6)
        assert_took(await asked_s(talk, b"late"), 0.3)
        for held in (there, back):
            found = await held.evidence()
            assert isinstance(found, PacketsDelayed)
            assert found.packets >= 4
    assert_took(await asked_s(talk, b"healed"), 0.0)
    talk.abandon()


async def test_what_is_held_arrives_at_once_where_it_is_healed(world: World) -> None:
    lateness(os.getpid())
    talk = await Talk.to(world)
    async with world.pull(late(30.0)):
        began_s = now_s()
        asking = asyncio.create_task(talk.ask(produce(b"held")))
        await asyncio.sleep(0.1)
        assert not asking.done()
    await asking
    assert_took(since(began_s), 0.1)
    talk.abandon()


async def test_jitter_changes_no_order(world: World) -> None:
    lateness(os.getpid())
    talk = await Talk.to(world)
    sent = [b"%d" % number for number in range(10)]
    async with world.pull(late(0.1, jitter_s=0.09, seed="7/slow/1")):
        began_s = now_s()
        for value in sent:
            talk.send(produce(value))
        for value in sent:
            assert produced(await talk.answer(produce(value)))[0] == 0
        assert 0.05 <= since(began_s) <= 0.19 + slack_s()
    assert [value for value in await values(world) if value in sent] == sent
    talk.abandon()


async def test_packets_that_come_twice_are_taken_once(world: World) -> None:
    async with (
        world.pull(FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DUPLICATE)) as there,
        world.pull(FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DUPLICATE)) as back,
    ):
        talk = await Talk.to(world)
        sent = [b"twice %d" % number for number in range(5)]
        for value in sent:
            await asked_s(talk, value)
        for doubled in (there, back):
            found = await doubled.evidence()
            assert isinstance(found, PacketsDuplicated)
            assert found.packets >= len(sent)
            assert (await doubled.evidence(doubled.began_ns, world.now_ns())).amount >= len(sent)
    assert [value for value in await values(world) if value in sent] == sent
    talk.abandon()


async def send_one_by_one(talk: Talk, messages: Sequence[bytes]) -> None:
    """Each in a packet of its own."""
    for value in messages:
        talk.send(produce(value))
        await asyncio.sleep(0.002)


async def test_packets_that_were_overtaken_are_put_in_order_again(world: World) -> None:
    talk = await Talk.to(world)
    sent = [b"in order %d" % number for number in range(40)]
    async with world.pull(late(0.05, chance=0.3, seed="7/mixed/1")) as mixing:
        await send_one_by_one(talk, sent)
        for value in sent:
            assert produced(await talk.answer(produce(value)))[0] == 0
        found = await mixing.evidence()
        assert isinstance(found, PacketsReordered)
        assert 1 <= found.packets <= len(sent)
    assert [value for value in await values(world) if value in sent] == sent
    talk.abandon()


async def test_packets_count_as_overtaken_while_they_are_held_still(world: World) -> None:
    talk = await Talk.to(world)
    sent = [b"still held %d" % number for number in range(20)]
    async with world.pull(late(30.0, chance=0.3, seed="7/mixed/1")) as mixing:
        await send_one_by_one(talk, sent)
        await asyncio.sleep(0.1)
        assert (await mixing.evidence()).amount >= 1
        assert (await mixing.evidence(mixing.began_ns, world.now_ns())).amount >= 1
        assert (await mixing.evidence(world.now_ns(), None)).amount == 0
    for value in sent:
        assert produced(await talk.answer(produce(value)))[0] == 0
    assert [value for value in await values(world) if value in sent] == sent
    talk.abandon()


async def test_a_packet_that_nothing_follows_is_not_overtaken(world: World) -> None:
    talk = await Talk.to(world)
    async with world.pull(late(0.1, chance=0.999999, seed="7/alone/1")) as mixing:
        assert await asked_s(talk, b"alone") >= 0.1
        assert await mixing.evidence() == PacketsReordered()
    talk.abandon()


async def test_lost_packets_are_sent_again_and_nothing_comes_twice(world: World) -> None:
    levers = [
        FilterPackets(broker=1, flow=flow, verdict=PacketAction.DROP, chance=0.1, seed=f"7/lossy/{flow}")
        for flow in FLOWS
    ]
    talk = await Talk.to(world)
    sent = [b"lost %d" % number for number in range(40)]
    async with world.pull(levers[0]) as there, world.pull(levers[1]) as back:
        for value in sent:
            talk.send(produce(value))
            await asyncio.sleep(0.005)
        for value in sent:
            assert produced(await talk.answer(produce(value), within_s=60.0))[0] == 0
        lost = [await one.evidence() for one in (there, back)]
    assert all(isinstance(one, PacketsDropped) for one in lost)
    assert sum(one.amount for one in lost) >= 1
    assert [value for value in await values(world) if value in sent] == sent
    talk.abandon()


async def test_what_is_doubled_before_it_is_held_is_held_twice_and_behind_it_once(world: World) -> None:
    double = FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.DUPLICATE)
    for levers, held in (((double, late(0.05)), 2), ((late(0.05), double), 1)):
        async with world.pull(levers[0]) as one, world.pull(levers[1]) as other:
            talk = await Talk.to(world)
            doubled, delayed = (one, other) if levers[0] is double else (other, one)
            assert await doubled.evidence() == PacketsDuplicated(packets=1)
            found = await delayed.evidence()
            assert isinstance(found, PacketsDelayed)
            assert found.packets >= held
            talk.abandon()


@pytest.mark.parametrize("delay_s", [0.05, 0.25])
async def test_the_retransmission_time_out_grows_with_the_path(kit: Toolkit, delay_s: float) -> None:
    """As Linux has it (RFC 6298), from the round trips that the connection has seen: its dial, then requests."""
    served = await serve()
    delays = Delays(seconds=(delay_s,))
    async with (
        kit.packets("to_broker", verdict=PacketAction.DELAY, delays=delays),
        kit.packets("to_client", verdict=PacketAction.DELAY, delays=delays),
    ):
        began_s = now_s()
        reader, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, far_writer = await served.peer()
        least, most = RoundTrip(2 * delay_s), RoundTrip(since(began_s))
        assert least.timeout_s <= kit.timeout_s(writer) <= most.timeout_s + 0.008
        for number in range(1, 4):
            sent_s = now_s()
            writer.write(b"?")
            await far_reader.readexactly(1)
            far_writer.write(b"!")
            await reader.readexactly(1)
            for model, sample_s in ((least, 2 * delay_s), (most, since(sent_s))):
                model.take(sample_s, number, number)
        assert 2 * delay_s + 0.2 <= kit.timeout_s(writer)
        assert least.timeout_s - 0.012 <= kit.timeout_s(writer) <= most.timeout_s + 0.012 + kit.slack_s / 4
    for end in (writer, far_writer):
        end.transport.abort()
    served.close()
