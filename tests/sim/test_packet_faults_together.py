"""Protects that packet faults may meet in any way, and that nothing of them is left once they are healed, in whatever
order that is."""

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from random import Random

import pytest
from simplans import plan

from harness.environments.probe import ProbeFailed, ask
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.simulation import simulate
from harness.environments.sim.world import SimWorld
from harness.environments.world import ActiveLever
from harness.levers import Delays, FilterPackets, PacketAction

DELAYS = Delays(seconds=(0.5, 0.0), jitter_s=0.4, seed="together")
FAULTS = (
    FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.DELAY, delays=DELAYS),
    FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.DROP),
    FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.REFUSE),
    FilterPackets(broker=1, flow="to_broker", only="data", verdict=PacketAction.RESET, at_most=1),
    FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP, chance=0.3, seed="one"),
    FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DROP, chance=0.3, seed="two"),
    FilterPackets(broker=1, flow="to_client", only="data", verdict=PacketAction.DROP),
    FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP, hook="sender"),
)


async def dial_and_ask(address: tuple[str, int]) -> None:
    reader, writer = await asyncio.open_connection(*address)
    try:
        await ask(address, reader, writer)
    finally:
        writer.transport.abort()


async def dial_in_trouble(address: tuple[str, int]) -> None:
    with suppress(OSError, ProbeFailed):
        await dial_and_ask(address)


@pytest.mark.parametrize("seed", range(30))
def test_faults_that_come_and_go_in_any_order_leave_nothing(seed: int) -> None:
    rng = Random(seed)

    async def main(loop: SimLoop) -> None:
        async with SimWorld.opened(loop, plan(), None) as world:
            address = world.advertised_address(1)
            in_force: list[AbstractAsyncContextManager[ActiveLever]] = []
            dials = []
            for _ in range(20):
                if in_force and rng.random() < 0.45:
                    await in_force.pop(rng.randrange(len(in_force))).__aexit__(None, None, None)
                else:
                    in_force.append(world.pull(rng.choice(FAULTS)))
                    await in_force[-1].__aenter__()
                dials.append(asyncio.create_task(dial_in_trouble(address)))
                await asyncio.sleep(rng.uniform(0.0, 0.6))
            while in_force:
                await in_force.pop(rng.randrange(len(in_force))).__aexit__(None, None, None)
            await asyncio.gather(*dials)
            settled = await world.settle(200.0)
            assert settled.complete
            began_s = loop.time()
            await dial_and_ask(address)
            assert loop.time() - began_s < 0.001
            assert world.failed is None

    simulate(main, Random(seed))
