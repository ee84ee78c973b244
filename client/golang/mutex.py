"""Mutex: who runs may overtake who waits, until somebody has waited for a millisecond in vain. Source: Go's sync.Mutex.

Unlocking wakes the first in the queue and leaves the lock free: a goroutine that runs can take it before that one does.
Who then finds it taken, and came more than a millisecond ago, is handed it at the next unlock.
"""

import asyncio
from collections import deque

_STARVATION_THRESHOLD_S = 0.001


class Mutex:
    """`async with mutex:`, or `lock` and `unlock` where another task unlocks."""

    __slots__ = ("_locked", "_starving", "_waiters", "_woken")

    def __init__(self) -> None:
        self._locked = False
        self._starving = False
        self._woken = False
        """Somebody was woken and has not tried yet: nobody else has to be."""
        self._waiters: deque[asyncio.Future[bool]] = deque()

    def locked(self) -> bool:
        """Whether TryLock would fail."""
        return self._locked or self._starving

    async def lock(self) -> None:
        if self._locked or self._starving:
            await self._wait()
        else:
            self._locked = True

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        came_at = loop.time()
        again = False
        while True:
            turn: asyncio.Future[bool] = loop.create_future()
            if again:
                self._waiters.appendleft(turn)
            else:
                self._waiters.append(turn)
            handed_over = await turn
            starved = loop.time() - came_at > _STARVATION_THRESHOLD_S
            if handed_over:
                self._starving = starved and bool(self._waiters)
                return
            self._woken = False
            if not self._locked:
                self._locked = True
                return
            self._starving = self._starving or starved
            again = True

    def unlock(self) -> None:
        assert self._locked, "sync: unlock of unlocked mutex"
        if self._starving:
            self._waiters.popleft().set_result(True)  # it stays locked: it is theirs
            return
        self._locked = False
        if self._waiters and not self._woken:
            self._woken = True
            self._waiters.popleft().set_result(False)

    async def __aenter__(self) -> None:
        if self._locked or self._starving:
            await self._wait()
        else:
            self._locked = True

    async def __aexit__(self, *_: object) -> None:
        self.unlock()
