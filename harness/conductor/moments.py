"""The moments that steps wait for: when a fault was confirmed, when an operation ended."""

import asyncio
from functools import cached_property
from random import Random

from harness.environments.world import World
from harness.event import OneShotEvent
from harness.plan import PlannedHealing, StartCondition, Step


class Moments:
    """One moment for each fault and each operation of a run, by its alias."""

    def __init__(self, steps: tuple[Step, ...], world: World, seed: str) -> None:
        """`seed`: of the chance that draws the starts that are spread."""
        self._world = world
        self._seed = seed
        self._reached = {step.alias: OneShotEvent() for step in steps if not isinstance(step, PlannedHealing)}
        self._at_ns: dict[str, int] = {}

    @cached_property
    def _chance(self) -> Random:
        return Random(self._seed)

    def reach(self, alias: str, at_ns: int) -> None:
        """The fault or operation called `alias` was confirmed or has ended, at this absolute clock value."""
        self._at_ns[alias] = at_ns
        self._reached[alias].set()

    async def wait_for(self, when: StartCondition) -> None:
        """Wait until a step with this condition starts."""
        since_ns = self._world.now_ns()
        if when.alias is not None:
            await self._reached[when.alias].wait()
            since_ns = self._at_ns[when.alias]
        after_s = when.after_s + (self._chance.uniform(0.0, when.spread_s) if when.spread_s > 0 else 0.0)
        if after_s > 0:
            await sleep_until(self._world, since_ns + round(after_s * 1e9))


async def sleep_until(world: World, at_ns: int) -> None:
    """Sleep until an absolute value of the world's clock; not at all where that has passed."""
    left_ns = at_ns - world.now_ns()
    if left_ns > 0:
        await asyncio.sleep(left_ns / 1e9)
