"""Mutex: a running goroutine may take the lock before a waiting one, until that has waited for a millisecond.

Source: Go's internal/sync/mutex.go, runtime/sema.go; without the spinning.

Unlocking wakes the first waiter and leaves the lock free, so a running goroutine can take it before the waiter runs. A
woken waiter that finds the lock taken, and has waited for more than a millisecond, is handed the lock at the next
unlock (starvation mode). But another goroutine may begin to wait before the woken one has run: then the wake-up goes to
the newcomer, and the woken one to the end of the queue. So a goroutine that locks again at once can keep others out.
"""

import asyncio

from client.golang.scheduler import Waiter

_STARVATION_THRESHOLD_S = 0.001


class Mutex:
    """`async with mutex:`, or `lock` and `unlock` where another task unlocks."""

    __slots__ = ("_locked", "_parked", "_starving", "_waiting", "_wake_ups", "_woken")

    def __init__(self) -> None:
        self._locked = False
        self._starving = False
        self._woken = False
        """A waiter was woken and has not tried yet: no other needs to be."""
        self._waiting = 0
        self._wake_ups = 0
        """The semaphore: wake-ups that no waiter has used yet."""
        self._parked: list[Waiter[bool]] = []

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
        wait_started_at = loop.time()
        starved = awoke = False
        while self._locked or self._starving:
            self._waiting += 1
            if awoke:
                self._starving = self._starving or starved
                self._woken = False
            await self._park(in_front=awoke)
            starved = starved or loop.time() - wait_started_at > _STARVATION_THRESHOLD_S
            if self._starving:  # it was handed over
                self._waiting -= 1
                self._locked = True
                self._starving = starved and self._waiting > 0
                return
            awoke = True
        self._locked = True
        self._woken = False

    async def _park(self, *, in_front: bool) -> None:
        """Returns with a wake-up, not necessarily the one meant for this task."""
        while self._wake_ups == 0:
            turn: Waiter[bool] = Waiter()
            if in_front:
                self._parked.insert(0, turn)
            else:
                self._parked.append(turn)
            await turn
            if turn.value:  # it was handed over
                return
        self._wake_ups -= 1

    def unlock(self) -> None:
        assert self._locked, "sync: unlock of unlocked mutex"
        self._locked = False
        if not self._starving:
            if self._waiting == 0 or self._woken:
                return
            self._waiting -= 1
            self._woken = True
        if self._starving and self._parked:
            self._parked.pop(0).wake(True)
            return
        self._wake_ups += 1
        if self._parked:
            self._parked.pop(0).wake(False)

    async def __aenter__(self) -> None:
        if self._locked or self._starving:
            await self._wait()
        else:
            self._locked = True

    async def __aexit__(self, *_: object) -> None:
        self.unlock()
