"""Plans that the conductor follows on virtual time: a Sarama client and brokers of which nothing is told here."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.environments.world import ActiveLever, Conduct, ProgressCallback, World
from harness.faults import FAULTS
from harness.levers import Lever
from harness.plan import ClientPlan, ClusterShape, PlannedFault, ResolvedValue, RunPlan, Step, Topic
from harness.story import Story


def seconds(name: str, value: float) -> ResolvedValue:
    return ResolvedValue(name=name, text=f"{value:g}s", unit="s", value=value)


def plan_of(*steps: Step, settings: tuple[ResolvedValue, ...] = (), **more: Any) -> RunPlan:
    """A dial takes 1 s to give up; everything else is Sarama's default."""
    return RunPlan(
        **{
            "run_id": "0123456789ab", "scenario": "conductor", "path": Path("conductor.scenario.yaml"), "about": "",
            "tags": (), "environment": "sim", "settings": (seconds("Net.DialTimeout", 1), *settings),
            "client": ClientPlan(name="sarama", version="1.27.2", profile="sarama"), "given_settings": (),
            "parameters": (), "cluster": ClusterShape(brokers=1, topics=(Topic(name="orders"),)), "steps": steps,
            "expectations": (), "seed": 1, "repeat": 1, **more,
        }
    )  # fmt: skip


def blackhole(alias: str = "outage", **more: Any) -> PlannedFault:
    return PlannedFault(fault=FAULTS["blackhole"](), alias=alias, **more)


class Spied:
    """A world whose levers are noted while they are pulled and undone; `before_undoing` may spoil the latter."""

    def __init__(self, world: World, before_undoing: Callable[[], Any] | None) -> None:
        self._world = world
        self._before_undoing = before_undoing
        self.noted: list[tuple[str, Lever]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def pull(self, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]:
        return self._pull(lever)

    @asynccontextmanager
    async def _pull(self, lever: Lever) -> AsyncIterator[ActiveLever]:
        async with self._world.pull(lever) as pulled:
            self.noted.append(("pulled", lever))
            try:
                yield pulled
            finally:
                if self._before_undoing is not None:
                    await self._before_undoing()
                self.noted.append(("undone", lever))


Spying = Callable[[Conduct], Conduct]


def on_sim(plan: RunPlan, how: Conduct = conduct, progress: ProgressCallback = lambda _: None) -> Story:
    return SimEnvironment(how).run(plan, progress, None)


@pytest.fixture
def sim() -> Any:
    """The names above, for test modules that cannot import them."""

    class Names:
        run = staticmethod(on_sim)
        plan = staticmethod(plan_of)
        blackhole = staticmethod(blackhole)
        seconds = staticmethod(seconds)
        spied = Spied

    return Names
