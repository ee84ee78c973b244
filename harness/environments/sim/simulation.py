"""One simulation from its first task to its last: nothing of a run outlives it, and asyncio warns of nothing."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from random import Random
from typing import Any, TypeVar

from harness.environments.sim.hosts import Host
from harness.environments.sim.loop import Deadlock, Livelock, SimLoop

T = TypeVar("T")

CANCEL_GRACE_S = 300.0
"""Virtual time that cancelled tasks get for their `finally` blocks once the run is over."""


def simulate(main: Callable[[SimLoop], Coroutine[Any, Any, T]], rng: Random) -> T:
    """Run `main(loop)` on a new loop's host `main`, then end whatever it has left running.

    Raises what `main` raises, Deadlock, Livelock, and Interrupted.
    """
    loop = SimLoop(rng)
    try:
        return loop.run_until_complete(loop.main.spawn(main(loop), name="main"))
    finally:
        try:
            _shut_down(loop)
        finally:
            loop.close()
            loop.dispose()


def _shut_down(loop: SimLoop) -> None:
    """End all tasks, transports and generators. Those of the host `main` are cancelled; all other hosts are killed, and
    their tasks never run again."""
    loop.clear_interrupt()
    left = loop.main.unfinished()
    with suppress(Deadlock, Livelock):
        if left:
            loop.run_until_complete(_cancelled(loop, left))
        if loop._asyncgens:  # type: ignore[attr-defined]
            loop.run_until_complete(loop.shutdown_asyncgens())
    for host in loop.hosts:
        host.sockets.clear()  # no host is left to receive what their ends would send
        host.kill()
        for task in host.tasks:
            _report(loop, host, task)
    for transport in tuple(loop.transports):
        transport.discard()
    for host in loop.hosts:
        for task in host.unfinished():
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            with suppress(BaseException):
                task.get_coro().close()


def _report(loop: SimLoop, host: Host, task: asyncio.Task[Any]) -> None:
    """Report a failed task now, and on its host; asyncio would report it whenever it is garbage-collected."""
    unseen: bool = task._log_traceback
    if unseen and task.done() and not task.cancelled():
        loop.call_exception_handler(
            {"message": f"task {task.get_name()} failed", "exception": task.exception(), "host": host}
        )


def _cancelled(loop: SimLoop, tasks: list[asyncio.Task[Any]]) -> asyncio.Future[None]:
    """Cancel them. Done when all have ended or CANCEL_GRACE_S is over; their exceptions are swallowed."""
    over: asyncio.Future[None] = loop.create_future()
    left = len(tasks)

    def end() -> None:
        if not over.done():
            over.set_result(None)

    def ended(task: asyncio.Task[Any]) -> None:
        nonlocal left
        left -= 1
        if not task.cancelled():
            task.exception()
        if left == 0:
            end()

    loop.call_at(loop.now + CANCEL_GRACE_S, end)
    for task in tasks:
        task.add_done_callback(ended)
        task.cancel()
    return over
