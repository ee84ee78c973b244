"""Hosts: whose code is running. Carried in a ContextVar, so that every task, timer and callback knows its host."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from enum import Enum
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class HostState(Enum):
    RUNNING = "running"
    PAUSED = "paused"
    """SIGSTOP: its handles wait, its kernel still acknowledges and accepts."""
    KILLED = "killed"
    """SIGKILL: its handles are dropped, its sockets are closed by the kernel, and no `finally` runs."""


class Closable(Protocol):
    """A socket as the kernel sees it when its process has gone."""

    def close(self) -> None: ...


class Host:
    """One process of the simulated world: subject, a broker, the proxies, the conductor.

    `held` are handles that came due while it was paused. `sockets` are its open descriptors, in the order of opening.
    `stderr` takes what it writes there; None: it is dropped.
    """

    __slots__ = ("_at_kill", "_prune_at", "_tasks", "context", "held", "loop", "name", "sockets", "state", "stderr")

    def __init__(self, name: str, loop: "HostLoop") -> None:
        self.name = name
        self.loop = loop
        self.state = HostState.RUNNING
        self.held: deque[asyncio.Handle] = deque()
        self.sockets: dict[Closable, None] = {}
        self.stderr: Callable[[str], None] | None = None
        self.context: Context = Context()
        self.context.run(HOST.set, self)
        self._tasks: list[asyncio.Task[Any]] = []
        self._prune_at = 64
        self._at_kill: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<Host {self.name} {self.state.value}>"

    def spawn(self, coroutine: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Start a task on this host."""
        return self.loop.create_task(coroutine, name=name, context=self.context.copy())

    def track(self, task: asyncio.Task[Any]) -> None:
        """Hold a reference to a task of this host: an unreferenced task may be garbage-collected while it waits."""
        self._tasks.append(task)
        if len(self._tasks) >= self._prune_at:
            self._tasks = self.unfinished()
            self._prune_at = 2 * len(self._tasks) + 64

    def unfinished(self) -> list[asyncio.Task[Any]]:
        return [task for task in self._tasks if not task.done()]

    @property
    def tasks(self) -> tuple[asyncio.Task[Any], ...]:
        """Every task of this host that may still matter, in the order of creation."""
        return tuple(self._tasks)

    def on_killed(self, callback: Callable[[], None]) -> None:
        """Call `callback` (on whichever host kills) when this host is killed: pipes break, waiters learn of it."""
        self._at_kill.append(callback)

    def pause(self) -> None:
        """Stop it as SIGSTOP does. Does nothing to a paused host; raises RuntimeError where it was killed."""
        if self.state is HostState.KILLED:
            raise RuntimeError(f"host {self.name} was killed: it cannot be paused")
        if self.state is HostState.RUNNING:
            self.state = HostState.PAUSED
            self.loop.stopped_host_count += 1

    def resume(self) -> None:
        """Let a paused host run on: what it missed runs first, in order. Does nothing to a running one."""
        if self.state is HostState.PAUSED:
            self.state = HostState.RUNNING
            self.loop.stopped_host_count -= 1
            self.loop.requeue(self.held)
            self.held = deque()

    def kill(self) -> None:
        """End it as SIGKILL does. Does nothing to a killed host."""
        if self.state is HostState.KILLED:
            return
        if self.state is HostState.RUNNING:
            self.loop.stopped_host_count += 1
        self.state = HostState.KILLED
        self.held.clear()
        for socket in tuple(self.sockets):
            socket.close()
        for callback in self._at_kill:
            callback()

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        self._tasks.clear()
        self._at_kill.clear()
        self.sockets.clear()
        self.stderr = None
        self.context = Context()
        del self.loop


class HostLoop(Protocol):
    """What a host needs of its loop."""

    stopped_host_count: int
    """How many hosts are paused or killed: none is the common case, and then no handle is looked at."""

    def create_task(self, coro: Coroutine[Any, Any, T], *, name: str, context: Context) -> asyncio.Task[T]: ...

    def requeue(self, handles: deque[asyncio.Handle]) -> None: ...


HOST: ContextVar[Host] = ContextVar("host")


def current_host() -> Host:
    """The host whose code is running. Raises LookupError outside of any."""
    return HOST.get()


def current_context() -> Context:
    """A copy of the running code's context, for callbacks that the kernel makes on its behalf."""
    return copy_context()
