"""Context: a deadline and a cancellation that reach everything derived from it. Source: Go's package context."""

import asyncio
from types import TracebackType

from client.golang.channel import Channel

CANCELED = "context canceled"
DEADLINE_EXCEEDED = "context deadline exceeded"


class Context:
    """Derived by the functions below; `with` is `defer cancel()`.

    `done` is closed when the context is over; `error` then says why, in Go's words. `deadline_at` is on the loop's
    clock, in seconds.
    """

    __slots__ = ("_children", "_parent", "_timer", "deadline_at", "done", "error")

    def __init__(self, parent: "Context | None", deadline_at: float | None) -> None:
        self.done: Channel[None] = Channel()
        self.error: str | None = None
        self.deadline_at = deadline_at
        self._parent = parent
        self._children: dict[Context, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        if parent is not None:
            inherits = parent.deadline_at is not None and (deadline_at is None or parent.deadline_at <= deadline_at)
            if inherits:
                self.deadline_at = parent.deadline_at
            if parent.error is not None:
                self._end(parent.error)
                return
            parent._children[self] = None
            if inherits:
                return
        if deadline_at is not None:
            loop = asyncio.get_running_loop()
            if deadline_at <= loop.time():
                self._end(DEADLINE_EXCEEDED)
            else:
                self._timer = loop.call_at(deadline_at, self._end, DEADLINE_EXCEEDED)

    def cancel(self) -> None:
        """Over now, and everything derived from it. The second time does nothing."""
        self._end(CANCELED)

    def _end(self, error: str) -> None:
        if self.error is not None:
            return
        self.error = error
        if self._timer is not None:
            self._timer.cancel()
        if self._parent is not None:
            self._parent._children.pop(self, None)
        self.done.close()
        for child in tuple(self._children):
            child._end(error)

    def __enter__(self) -> "Context":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


def background() -> Context:
    """Never over by itself."""
    return Context(None, None)


def with_cancel(parent: Context) -> Context:
    return Context(parent, None)


def with_deadline(parent: Context, deadline_at: float) -> Context:
    """Over at `deadline_at`, or when the parent is."""
    return Context(parent, deadline_at)


def with_timeout(parent: Context, timeout_s: float) -> Context:
    return Context(parent, asyncio.get_running_loop().time() + timeout_s)
