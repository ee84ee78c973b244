"""The tasks of one subject: started beside their caller, referenced until they end, ended together with the subject."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


def _raise(panic: BaseException) -> None:
    raise panic


class BackgroundTasks:
    """Goroutines, threads, timers: everything that a client runs in the background.

    An exception that leaves a task was not expected by the client's code: like an unhandled panic it ends the subject.
    It is passed to `on_panic`.
    """

    def __init__(self, on_panic: Callable[[BaseException], None] = _raise) -> None:
        self._on_panic = on_panic
        self._tasks: dict[asyncio.Task[None], None] = {}

    def go(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start work; it first runs when the caller next waits."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (panic := task.exception()) is not None:
            self._on_panic(panic)

    def cancel_all(self) -> None:
        """Cancel every task, in the order in which they were started."""
        for task in tuple(self._tasks):
            task.cancel()
        self._tasks.clear()  # the loop holds what it has cancelled until that has run
