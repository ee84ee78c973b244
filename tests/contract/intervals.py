"""Intervals of a world's time, and what a lever is seen to have done in one."""

import asyncio

import pytest
from talk import Talk

from harness.environments.world import ActiveLever, World

PAUSE_S = 0.3
"""Longer than what was sent is under way, and than counters are sampled."""


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
