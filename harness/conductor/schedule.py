"""The steps of a run: each starts in order and at its time; background steps continue beside those after them."""

import asyncio
from pathlib import Path

from harness.conductor.active_faults import ActiveFaults
from harness.conductor.calls import ClientCalls
from harness.conductor.moments import Moments
from harness.conductor.progress import ProgressReporter
from harness.conductor.recorder import Recorder
from harness.conductor.tasks import Failure, RunTasks
from harness.environments.world import ProgressCallback, World
from harness.plan import PlannedFault, PlannedHealing, PlannedOperation, RunPlan


class Schedule:
    """A plan's steps in a world: `follow` takes them, `finish` undoes their effects. Each is called once."""

    def __init__(
        self, plan: RunPlan, world: World, recorder: Recorder, progress: ProgressCallback, logs: Path | None
    ) -> None:
        reporter = ProgressReporter(progress)
        self._plan = plan
        self._moments = moments = Moments(plan.steps, world, f"{plan.seed}/{plan.repeat}/starts")
        self._tasks = tasks = RunTasks()
        self.faults = ActiveFaults(
            world=world,
            seed=f"{plan.seed}/{plan.repeat}",
            recorder=recorder,
            reporter=reporter,
            moments=moments,
            tasks=tasks,
        )
        self.calls = ClientCalls(
            plan=plan, world=world, recorder=recorder, reporter=reporter, moments=moments, tasks=tasks, logs=logs
        )

    async def follow(self) -> None:
        """Take every step. Ends early where it is stopped. Raises SubjectError, WorldError."""
        await self._tasks.run(self._follow())

    def stop(self) -> None:
        """Cancel what is under way and take no further step."""
        self._tasks.stop()

    async def finish(self) -> Failure | None:
        """Heal every fault, the last one first, then end the subject. Returns the first failure beside the steps."""
        await self._tasks.end()
        self.calls.censor_open_calls()
        await self.faults.heal_all()
        await self.faults.look_for(self.calls.stories())
        await self.calls.end_client()
        return self._tasks.failure

    async def _follow(self) -> None:
        background: list[asyncio.Task[None]] = []
        await self.faults.prepare(self._plan.steps)
        await self.faults.blackhole(self._plan.client.blackholed)
        for step in self._plan.steps:
            await self._moments.wait_for(step.when)
            match step:
                case PlannedOperation():
                    end = await self.calls.begin(step)
                    if step.background:
                        background.append(self._tasks.start(end))
                    else:
                        await end
                case PlannedFault():
                    await self.faults.inject(step)
                case PlannedHealing():
                    await self.faults.heal(step.alias)
            if self._tasks.stopped:
                return
        await asyncio.gather(*background)
        await self.faults.let_meet()
