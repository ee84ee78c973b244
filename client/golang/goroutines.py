"""Goroutines and WaitGroup: starting work beside the caller, and waiting until it is done."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Goroutines:
    """Tasks that belong to one client, referenced until they end.

    An exception that leaves a goroutine is what a panic is in Go, the end of the process: `on_panic` is told.
    """

    def __init__(self, on_panic: Callable[[BaseException], None]) -> None:
        self._on_panic = on_panic
        self._tasks: dict[asyncio.Task[None], None] = {}

    def go(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """`go work()`: it first runs when the caller next waits."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (panic := task.exception()) is not None:
            self._on_panic(panic)

    def end(self) -> None:
        """The process is over: no goroutine runs on."""
        for task in tuple(self._tasks):
            task.cancel()


class WaitGroup:
    """Counts what is under way; `wait` returns when it is nothing. Source: Go's sync.WaitGroup."""

    __slots__ = ("_count", "_waiters")

    def __init__(self) -> None:
        self._count = 0
        self._waiters: list[asyncio.Future[None]] = []

    def add(self, delta: int) -> None:
        self._count += delta
        assert self._count >= 0, "sync: negative WaitGroup counter"
        if self._count == 0:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    def done(self) -> None:
        self.add(-1)

    async def wait(self) -> None:
        if self._count > 0:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
