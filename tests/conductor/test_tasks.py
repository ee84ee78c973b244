"""Protects the end of a run: whatever is under way is cancelled in one way, and the first failure is kept."""

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from harness.conductor.tasks import RunTasks
from harness.environments.world import WorldError


async def forever(ended: list[str], name: str) -> None:
    try:
        await asyncio.sleep(3600)
    finally:
        ended.append(name)


async def fail(code: str) -> None:
    raise WorldError(code, "as the test wants it")


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 10))


def test_a_failure_beside_the_steps_cancels_the_steps_and_all_other_work() -> None:
    tasks, ended = RunTasks(), list[str]()

    async def steps() -> None:
        tasks.start(forever(ended, "beside"))
        tasks.start(fail("first"))
        await forever(ended, "steps")

    async def whole() -> None:
        await tasks.run(steps())
        await tasks.end()

    run(whole())
    assert sorted(ended) == ["beside", "steps"]
    assert tasks.stopped
    assert tasks.failure is not None
    assert tasks.failure.code == "first"


def test_stopping_from_within_the_steps_leaves_them_to_end_by_themselves() -> None:
    tasks, ended = RunTasks(), list[str]()

    async def steps() -> None:
        tasks.start(forever(ended, "beside"))
        await asyncio.sleep(0)
        tasks.stop()
        await asyncio.sleep(0)
        ended.append("steps")

    async def whole() -> None:
        await tasks.run(steps())
        await tasks.end()

    run(whole())
    assert sorted(ended) == ["beside", "steps"]


@pytest.mark.filterwarnings("error")
def test_work_that_is_stopped_before_it_begins_is_closed() -> None:
    tasks, ended = RunTasks(), list[str]()
    work = forever(ended, "beside")

    async def whole() -> None:
        tasks.start(work)
        await tasks.end()

    run(whole())
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
    assert not ended


def test_what_the_steps_raise_is_raised_and_only_the_first_later_failure_is_kept() -> None:
    tasks = RunTasks()

    async def whole() -> None:
        with pytest.raises(WorldError, match="as the test wants it"):
            await tasks.run(fail("steps"))
        await tasks.keep_failure(fail("first"))
        await tasks.keep_failure(fail("second"))

    run(whole())
    assert tasks.failure is not None
    assert tasks.failure.code == "first"


def test_cancelling_the_run_itself_is_not_swallowed() -> None:
    tasks, ended = RunTasks(), list[str]()

    async def whole() -> None:
        run = asyncio.create_task(tasks.run(forever(ended, "steps")))
        await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    run(whole())
    assert ended == ["steps"]
