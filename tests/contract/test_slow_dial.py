"""Protects dials that take exactly so much longer: on simulated sockets as on real ones, whatever the kernel sends
again meanwhile and in whatever order faults meet, and with nothing left once they are healed."""

import asyncio
import os
from functools import cache
from typing import Any

import pytest
from machine_noise import Lateness
from talk import Talk, produce
from toolkit import now_s, since

from harness.environments.sim.loop import SimLoop
from harness.environments.world import World
from harness.levers import Delays, DialsDelayed, FilterPackets, PacketAction


@cache
def lateness(_process: int) -> Lateness:
    """Of the machine, since this process first asked for it: a cell is a process of its own."""
    return Lateness()


def slack_s() -> float:
    """How much later than due things may happen here. Early is never right."""
    virtual = isinstance(asyncio.get_running_loop(), SimLoop)
    return 0.001 if virtual else 0.3 + lateness(os.getpid()).total_s


def slow(*seconds: float, **more: Any) -> FilterPackets:
    return FilterPackets(
        broker=1, flow="to_broker", only="syn", verdict=PacketAction.DELAY, delays=Delays(seconds=seconds, **more)
    )


async def dial_s(world: World) -> float:
    """How long a dial takes; its connection is good for a request."""
    lateness(os.getpid())
    began_s = now_s()
    talk = await Talk.to(world)
    taken_s = since(began_s)
    await talk.ask(produce(b"over it"))
    talk.abandon()
    return taken_s


def assert_took(taken_s: float, delay_s: float) -> None:
    assert delay_s <= taken_s <= delay_s + slack_s()


@pytest.mark.parametrize("delay_s", [0.05, 0.7, 2.5])
async def test_a_dial_takes_as_much_longer_and_what_was_connected_is_as_fast_as_before(
    world: World, delay_s: float
) -> None:
    talk = await Talk.to(world)
    async with world.pull(slow(delay_s)) as slowing:
        dialling = asyncio.create_task(dial_s(world))
        began_s = now_s()
        await talk.ask(produce(b"connected before"))
        assert_took(since(began_s), 0.0)
        assert_took(await dialling, delay_s)
        assert await slowing.evidence() == DialsDelayed(dials=1)
    assert_took(await dial_s(world), 0.0)
    talk.abandon()


async def test_delays_are_taken_dial_by_dial_and_the_last_one_stays(world: World) -> None:
    async with world.pull(slow(0.6, 0.0, 0.3)) as slowing:
        for delay_s in (0.6, 0.0, 0.3, 0.3):
            assert_took(await dial_s(world), delay_s)
        assert await slowing.evidence() == DialsDelayed(dials=4)


async def test_dials_at_once_are_each_as_slow(world: World) -> None:
    async with world.pull(slow(0.5)):
        for taken_s in await asyncio.gather(*(dial_s(world) for _ in range(20))):
            assert_took(taken_s, 0.5)


@pytest.mark.parametrize("spread", ["uniform", "normal"])
async def test_drawn_delays_are_those_of_the_seed(world: World, spread: Any) -> None:
    lever = slow(0.3, jitter_s=0.1, spread=spread, seed="7/slow/1")
    assert lever.delays is not None
    drawn = [delay_s for _, delay_s in zip(range(3), lever.delays, strict=False)]
    assert len(set(drawn)) == 3
    async with world.pull(lever):
        for delay_s in drawn:
            assert_took(await dial_s(world), delay_s)


async def test_a_dial_that_was_given_up_is_delivered_and_harms_nobody(world: World) -> None:
    async with world.pull(slow(0.4, 0.0)) as slowing:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await Talk.to(world)
        await asyncio.sleep(0.4)
        assert_took(await dial_s(world), 0.0)
        assert await slowing.evidence() == DialsDelayed(dials=2)


async def test_healing_completes_what_is_held_at_once(world: World) -> None:
    async with world.pull(slow(30.0)):
        began_s = now_s()
        dialling = asyncio.create_task(Talk.to(world))
        await asyncio.sleep(0.3)
        assert not dialling.done()
    talk = await dialling
    assert_took(since(began_s), 0.3)
    await talk.ask(produce(b"healed"))
    talk.abandon()


async def test_dials_are_known_by_the_time_at_which_they_were_made(world: World) -> None:
    async with world.pull(slow(0.1)) as slowing:
        quiet_ns = world.now_ns()
        await asyncio.sleep(0.1)
        await dial_s(world)
        await asyncio.sleep(0.1)
        busy_ns = world.now_ns()
        assert await slowing.evidence(None, quiet_ns) == DialsDelayed()
        assert await slowing.evidence(quiet_ns, busy_ns) == DialsDelayed(dials=1)
        assert await slowing.evidence(busy_ns, None) == DialsDelayed()
    assert await slowing.evidence(quiet_ns, busy_ns) == DialsDelayed(dials=1)


async def test_delays_that_meet_add_up_and_heal_in_any_order(world: World) -> None:
    first, second = world.pull(slow(0.5)), world.pull(slow(0.3))
    await first.__aenter__()
    await second.__aenter__()
    assert_took(await dial_s(world), 0.8)
    await first.__aexit__(None, None, None)
    assert_took(await dial_s(world), 0.3)
    await second.__aexit__(None, None, None)
    assert_took(await dial_s(world), 0.0)


DARK = FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.DROP)


async def test_a_dial_that_is_held_before_the_link_goes_dark_comes_once_it_has_healed(world: World) -> None:
    async with world.pull(slow(0.6)):
        async with world.pull(DARK) as dark:
            began_s = now_s()
            dialling = asyncio.create_task(Talk.to(world))
            await asyncio.sleep(0.2)
        (await dialling).abandon()
        assert_took(since(began_s), 0.6)
        assert (await dark.evidence()).amount == 0


async def test_a_dial_that_is_dropped_before_it_can_be_held_is_gone(world: World) -> None:
    """The kernel sends its SYN again after 1 s: that one is held."""
    dark = world.pull(DARK)
    dropping = await dark.__aenter__()
    async with world.pull(slow(0.6)) as slowing:
        began_s = now_s()
        dialling = asyncio.create_task(Talk.to(world))
        await asyncio.sleep(0.2)
        assert (await dropping.evidence()).amount == 1
        assert await slowing.evidence() == DialsDelayed()
        await dark.__aexit__(None, None, None)
        (await dialling).abandon()
        assert 1.6 <= since(began_s) <= 1.64 + slack_s()
        assert await slowing.evidence() == DialsDelayed(dials=1)


@pytest.mark.parametrize(("first", "refused_after_s"), [("refuse", 0.0), ("slow", 0.3)])
async def test_a_refusal_comes_before_the_delay_or_after_it_as_they_were_injected(
    world: World, first: str, refused_after_s: float
) -> None:
    refuse = FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.REFUSE)
    levers = (refuse, slow(0.3)) if first == "refuse" else (slow(0.3), refuse)
    async with world.pull(levers[0]) as one, world.pull(levers[1]) as other:
        began_s = now_s()
        with pytest.raises(ConnectionRefusedError):
            await dial_s(world)
        assert_took(since(began_s), refused_after_s)
        assert (await one.evidence()).amount == 1
        assert (await other.evidence()).amount == (1 if first == "slow" else 0)
    assert_took(await dial_s(world), 0.0)
