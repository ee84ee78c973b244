"""Protects a full accept queue: dials hang as the kernel has it, what is connected lives on, and healing takes the next
SYN: on simulated sockets as on real ones."""

import asyncio

import pytest
from machine_noise import Lateness
from talk import Talk, produce, produced
from toolkit import now_s, since, syn_retransmissions_s

from harness.environments.sim.loop import SimLoop
from harness.environments.world import World
from harness.levers import Delays, DialsOverflowed, FilterPackets, PacketAction

FULL = FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.OVERFLOW)


async def test_dials_hang_until_healing_and_connections_live_on(world: World) -> None:
    lateness = None if isinstance(asyncio.get_running_loop(), SimLoop) else Lateness()
    talk = await Talk.to(world)
    async with world.pull(FULL) as full:
        began_s = now_s()
        dialling = asyncio.create_task(Talk.to(world))
        assert produced(await talk.ask(produce(b"connected before")))[0] == 0
        await asyncio.sleep(1.5)
        assert not dialling.done()
        assert await full.evidence() == DialsOverflowed(syns=2)
        assert (await full.evidence(full.began_ns, world.now_ns())).amount == 2
    dialled = await dialling
    first_s, second_s = syn_retransmissions_s()[1]
    slack_s = 0.001 if lateness is None else 0.3 + lateness.total_s
    assert first_s <= since(began_s) <= second_s + slack_s
    assert produced(await dialled.ask(produce(b"healed")))[0] == 0
    dialled.abandon()
    talk.abandon()


async def test_other_brokers_accept(world: World) -> None:
    async with world.pull(FULL) as full:
        (await Talk.to(world, 2)).abandon()
        assert await full.evidence() == DialsOverflowed()


async def test_it_can_be_full_again_and_for_two_faults_at_once(world: World) -> None:
    for _ in range(2):
        async with world.pull(FULL) as full, world.pull(FULL) as again:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await Talk.to(world)
            assert await full.evidence() == DialsOverflowed(syns=1)
            assert await again.evidence() == DialsOverflowed()
        (await Talk.to(world)).abandon()


async def test_a_slow_dial_meets_the_full_queue_when_it_arrives(world: World) -> None:
    slow = FilterPackets(
        broker=1, flow="to_broker", only="syn", verdict=PacketAction.DELAY, delays=Delays(seconds=(0.4,))
    )
    async with world.pull(slow), world.pull(FULL) as full:
        dialling = asyncio.create_task(Talk.to(world))
        await asyncio.sleep(0.2)
        assert await full.evidence() == DialsOverflowed()
        await asyncio.sleep(0.5)
        assert await full.evidence() == DialsOverflowed(syns=1)
        assert not dialling.done()
        dialling.cancel()
        await asyncio.gather(dialling, return_exceptions=True)
