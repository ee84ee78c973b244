"""An event loop on real sockets whose timers fire within a few hundredths of a millisecond.

epoll waits for whole milliseconds, rounded up: it wakes two goroutines at once whose sleeps end some tenths of a
millisecond apart, and the first one's next step is then not taken before the second has woken, as it is in Go.
"""

import asyncio
from collections.abc import Coroutine
from select import select
from selectors import EpollSelector, SelectorKey
from typing import Any, TypeVar

T = TypeVar("T")


class _PreciseSelector(EpollSelector):
    """select waits for fractions of a millisecond: here for the one descriptor behind which epoll has all others."""

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        if timeout is not None and timeout > 0:
            select([self.fileno()], [], [], timeout)
            timeout = 0
        return super().select(timeout)


def run(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in such a loop."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_PreciseSelector())) as runner:
        return runner.run(main)
