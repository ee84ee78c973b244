"""The tasks of one subject: started beside their caller, referenced until they end, ended together with the subject."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any


def _raise(panic: BaseException) -> None:
    raise panic


class BackgroundTasks:
    """Goroutines, threads, timers: everything that a client runs in the background.

    An exception that leaves a task was not expected by the client's code: like an unhandled panic it ends the subject.
    It is passed to `on_panic`. `start` calls what it is given, soon: it decides which of several begins first.
    """

    def __init__(
        self,
        on_panic: Callable[[BaseException], None] = _raise,
        start: Callable[[Callable[[], None]], None] = lambda begin: begin(),
    ) -> None:
        self._on_panic = on_panic
        self._start = start
        self._not_begun: dict[Coroutine[Any, Any, None], None] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}

    def go(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start work; it first runs when the caller next waits."""
        self._not_begun[work] = None
        self._start(partial(self._begin, work, name))

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        if work in self._not_begun:  # else it was cancelled
            del self._not_begun[work]
            task = asyncio.get_running_loop().create_task(work, name=name)
            self._tasks[task] = None
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (panic := task.exception()) is not None:
            self._on_panic(panic)

    def cancel_all(self) -> None:
        """Cancel every task, in the order in which they were started."""
        for work in self._not_begun:
            work.close()
        self._not_begun.clear()
        for task in tuple(self._tasks):
            task.cancel()
        self._tasks.clear()  # the loop holds what it has cancelled until that has run
