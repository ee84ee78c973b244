"""The simulated environment: each plan runs on a loop of its own, on virtual time, and leaves nothing behind."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

from harness.brokers.kind import EMBEDDED
from harness.environments.registry import register
from harness.environments.sim.gc_tuning import relaxed_gc
from harness.environments.sim.host_logs import captured_logs
from harness.environments.sim.levers import SIM_LEVERS
from harness.environments.sim.loop import START_S, Deadlock, Interrupted, Livelock, SimLoop
from harness.environments.sim.simulation import simulate
from harness.environments.sim.world import KERNEL, SimWorld
from harness.environments.world import Conduct, ProgressCallback, RunInterrupted, Supported, Unsupported
from harness.levers import Lever
from harness.plan import DriverName, RunPlan
from harness.story import LabError, Story, lost_story


@register("sim")
class SimEnvironment:
    """`harness.environments.world.Environment` on virtual time. One lane: a run computes and never waits.

    `run` may be called from any thread that runs no event loop, from several at once too. A pickled one arrives in the
    other process as a new one.
    """

    name = "sim"
    lanes = 1
    virtual_time = True
    keeps_logs = False

    def __init__(self, conduct: Conduct, *, lanes: int | None = None) -> None:
        """`lanes` makes no difference: there is one."""
        self._conduct = conduct
        self._state = threading.Lock()
        self._loops: dict[SimLoop, None] = {}
        self._interrupted = False

    def __reduce__(self) -> tuple[type["SimEnvironment"], tuple[Conduct]]:
        return (type(self), (self._conduct,))

    def supports(self, lever: Lever, cluster: str = EMBEDDED) -> Supported | Unsupported:
        return SIM_LEVERS.supports(lever, cluster)

    def supports_cluster(self, kind: str) -> Supported | Unsupported:
        if kind == EMBEDDED:
            return Supported()
        return Unsupported(f"run {kind} brokers: they do not run on virtual time")

    def supports_driver(self, driver: DriverName) -> Supported | Unsupported:
        if driver == "bundled":
            return Supported()
        return Unsupported("start a program: it runs on virtual time, which no process shares")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.interrupt()

    @relaxed_gc()
    def run(self, plan: RunPlan, progress: ProgressCallback, logs: Path | None) -> Story:
        """Raises RunInterrupted after `interrupt`. Where the run can never end, the story's error names what hangs."""

        async def main(loop: SimLoop) -> tuple[Story, SimWorld]:
            with self._listed(loop), captured_logs(loop):
                async with SimWorld.opened(loop, plan, logs) as world:
                    return await self._conduct(plan, world, progress, logs), world

        try:
            story, world = simulate(main, Random(f"{plan.seed}/{plan.repeat}/network"))
        except Interrupted:
            raise RunInterrupted from None
        except (Deadlock, Livelock) as hung:
            error = LabError(code=type(hung).__name__.lower(), text=str(hung))
            return lost_story(plan.run_id, plan.attempt, error, origin_ns=round(START_S * 1e9), kernel=KERNEL)
        world.dispose()
        if world.failed is not None and story.error is None:
            return replace(story, error=LabError(code="world-failed", text=world.failed))
        return story

    def interrupt(self) -> None:
        with self._state:
            self._interrupted = True
            for loop in self._loops:
                loop.interrupt()

    @contextmanager
    def _listed(self, loop: SimLoop) -> Iterator[None]:
        """While entered, `interrupt` ends this loop."""
        with self._state:
            if self._interrupted:
                raise Interrupted
            self._loops[loop] = None
        try:
            yield
        finally:
            with self._state:
                del self._loops[loop]
