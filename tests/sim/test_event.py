"""Protects waiting for what happens once: nobody is forgotten, nobody waits longer than asked, nothing is left."""

import asyncio
from collections.abc import Coroutine
from random import Random
from typing import Any

from harness.environments.sim.loop import START_S, SimLoop
from harness.environments.sim.simulation import simulate
from harness.event import OneShotEvent


def virtually(body: Coroutine[Any, Any, None]) -> None:
    async def main(_loop: SimLoop) -> None:
        await body

    simulate(main, Random(1))


async def told_at(once: OneShotEvent, by_s: float | None) -> tuple[bool, float]:
    happened = await once.by(by_s)
    return happened, asyncio.get_running_loop().time() - START_S


def test_everybody_who_waits_is_told_and_who_comes_later_does_not_wait() -> None:
    async def body() -> None:
        once = OneShotEvent()
        asyncio.get_running_loop().call_later(2, once.set)
        assert await asyncio.gather(told_at(once, None), told_at(once, START_S + 5)) == [(True, 2.0), (True, 2.0)]
        assert await told_at(once, START_S) == (True, 2.0)
        once.set()
        await once.wait()

    virtually(body())


def test_a_limit_ends_the_waiting_of_who_set_it_alone() -> None:
    async def body() -> None:
        once = OneShotEvent()
        asyncio.get_running_loop().call_later(2, once.set)
        found = await asyncio.gather(told_at(once, START_S + 1), told_at(once, START_S - 1), told_at(once, None))
        assert found == [(False, 1.0), (False, 0.0), (True, 2.0)]

    virtually(body())


def test_who_is_cancelled_waits_no_more() -> None:
    async def body() -> None:
        once = OneShotEvent()
        task = asyncio.create_task(once.by(START_S + 10))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert not once.happened
        once.set()
        await asyncio.sleep(20)
        assert once.happened

    virtually(body())
