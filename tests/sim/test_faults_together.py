"""Protects that faults of every kind come and go in any order, and that nothing of them is left once all are healed.

A step injects a fault or heals one that is in force; a client dials and asks at each, whatever it meets.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from random import Random

from fault_table import WRITTEN, fault
from hypothesis import example, given, settings
from hypothesis import strategies as st
from simplans import plan

from harness.brokers.cluster import ClusterStateError
from harness.environments.probe import ProbeFailed, ask
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.simulation import simulate
from harness.environments.sim.world import SimWorld
from harness.environments.world import WorldError
from harness.faults.brokers import SelectorError
from harness.plan import ClusterShape, Topic

SHAPE = ClusterShape(brokers=3, topics=(Topic(name="orders", partitions=2, replication=3, leaders=(1, 2)),))
Step = tuple[int | None, int, int]
"""Which fault is injected, or None: one is healed; which of those in force; how many milliseconds pass then."""

steps = st.lists(
    st.tuples(st.none() | st.integers(0, len(WRITTEN) - 1), st.integers(0, 7), st.integers(0, 900)),
    min_size=1,
    max_size=14,
)


async def dial_and_ask(address: tuple[str, int]) -> None:
    reader, writer = await asyncio.open_connection(*address)
    try:
        await ask(address, reader, writer)
    finally:
        writer.transport.abort()


async def dial_in_trouble(address: tuple[str, int]) -> None:
    with suppress(OSError, ProbeFailed, TimeoutError):
        async with asyncio.timeout(30.0):
            await dial_and_ask(address)


async def inject(world: SimWorld, number: int, in_force: list[AsyncExitStack]) -> None:
    """One that cannot be, since another one has taken what it needs, leaves nothing either."""
    async with AsyncExitStack() as stack:
        with suppress(SelectorError, ClusterStateError, WorldError):
            for stage in fault(number).stages(replace(world.view(), seed=str(len(in_force)))):
                await stack.enter_async_context(world.pull(stage.lever))
            in_force.append(stack.pop_all())


async def follow(world: SimWorld, taken: list[Step]) -> None:
    in_force: list[AsyncExitStack] = []
    dials = []
    for number, which, pause_ms in taken:
        if number is not None:
            await inject(world, number, in_force)
        elif in_force:
            await in_force.pop(which % len(in_force)).aclose()
        dials += [asyncio.create_task(dial_in_trouble(world.advertised_address(broker))) for broker in (1, 2)]
        await asyncio.sleep(pause_ms / 1000)
    while in_force:
        await in_force.pop(len(taken) % len(in_force)).aclose()
    await asyncio.gather(*dials)


@given(taken=steps)
@example(taken=[(number, 0, 50) for number in range(len(WRITTEN))])
@example(taken=[(number, 0, 50) for number in reversed(range(len(WRITTEN)))])
@settings(max_examples=50, deadline=None, derandomize=True)
def test_any_sequence_of_injecting_and_healing_ends_clean(taken: list[Step]) -> None:
    async def main(loop: SimLoop) -> None:
        async with SimWorld.opened(loop, replace(plan(), cluster=SHAPE), None) as world:
            members = world.view().brokers
            await follow(world, taken)
            assert (await world.settle(300.0)).complete
            assert world.failed is None
            assert world.view().brokers == members
            for broker in members:
                began_s = loop.time()
                await dial_and_ask(world.advertised_address(broker))
                assert loop.time() - began_s < 0.002

    simulate(main, Random(len(taken)))
