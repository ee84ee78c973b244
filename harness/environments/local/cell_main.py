"""What runs in a cell: take the assignment, open the world, conduct the plan in it, send the story out."""

import asyncio
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.environments.local.channel import Channel
from harness.environments.local.world import LocalWorld
from harness.environments.world import Conduct, WorldError
from harness.plan import RunPlan
from harness.story import Story

_LOG = "conductor.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTask:
    """What a cell is opened for."""

    plan: RunPlan
    logs: Path | None
    toxiproxy: Path


class CellMain:
    """A cell's body. It sends `("progress", text)` and `("started",)`, last `("story", story)` or
    `("failed", code, text)`."""

    def __init__(self, conduct: Conduct) -> None:
        self._conduct = conduct

    def __call__(self, channel: Channel) -> None:
        assignment: CellTask = channel.receive(None)
        with _errors_into(assignment.logs):
            channel.send(self._result(assignment, channel))

    def _result(self, assignment: CellTask, channel: Channel) -> tuple[object, ...]:
        try:
            return ("story", asyncio.run(self._story(assignment, channel)))
        except WorldError as failed:
            return ("failed", failed.code, failed.text)
        except Exception as exc:  # noqa: BLE001 - a bug of ours becomes the run's lab error, with its traceback in the log
            traceback.print_exc()
            where = "" if assignment.logs is None else f"; see {assignment.logs / _LOG}"
            return ("failed", "lab-bug", f"{type(exc).__name__}: {exc}{where}")

    async def _story(self, assignment: CellTask, channel: Channel) -> Story:
        plan, logs = assignment.plan, assignment.logs
        async with LocalWorld.opened(
            plan, logs, assignment.toxiproxy, started=lambda: channel.send(("started",))
        ) as world:
            return await self._conduct(plan, world, lambda text: channel.try_send(("progress", text)), logs)


@contextmanager
def _errors_into(folder: Path | None) -> Iterator[None]:
    """Standard error goes into the run's folder; a file that stayed empty is removed."""
    if folder is None:
        yield
        return
    path = folder / _LOG
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 2)
    os.close(log)
    yield
    sys.stderr.flush()
    if path.stat().st_size == 0:
        path.unlink()
