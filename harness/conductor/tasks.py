"""The tasks of one run: its steps, and what runs beside them. They are stopped together, in one way."""

import asyncio
from collections.abc import Awaitable, Coroutine

from harness.drivers import SubjectError
from harness.environments.world import WorldError

Failure = SubjectError | WorldError


class RunTasks:
    """Everything of a run that is under way. `failure` is the first one of work that ran beside the steps.

    `stopped`: no further step is to be taken.
    """

    def __init__(self) -> None:
        self.failure: Failure | None = None
        self.stopped = False
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, steps: Coroutine[None, None, None]) -> None:
        """Run the steps until they end or are stopped. Raises what they raise."""
        task = self._add(steps)
        try:
            await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start work beside the steps. Its failure stops all."""
        task = self._add(self._run_beside(work))
        task.add_done_callback(lambda _: work.close())  # where it is cancelled before it begins, nobody awaits the work
        return task

    def stop(self) -> None:
        """Cancel everything that is under way, except the caller."""
        self.stopped = True
        caller = asyncio.current_task()
        for task in self._tasks:
            if task is not caller:
                task.cancel()

    async def end(self) -> None:
        """Stop, and wait until nothing is under way."""
        self.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def keep_failure(self, work: Awaitable[None]) -> None:
        """Do this work. Where it fails, only the first failure of the run is kept and nothing is raised."""
        try:
            await work
        except (SubjectError, WorldError) as failed:
            self.failure = self.failure or failed

    async def _run_beside(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except (SubjectError, WorldError) as failed:
            self.failure = self.failure or failed
            self.stop()

    def _add(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task
