"""WaitGroup: wait until everything that is under way is done. Source: Go's sync.WaitGroup."""

from client.golang.scheduler import Waiter


class WaitGroup:
    """`wait` returns when `done` was called as often as `add` announced."""

    __slots__ = ("_count", "_waiters")

    def __init__(self) -> None:
        self._count = 0
        self._waiters: list[Waiter[None]] = []

    def add(self, delta: int) -> None:
        self._count += delta
        assert self._count >= 0, "sync: negative WaitGroup counter"
        if self._count == 0:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if waiter.waits:
                    waiter.wake(None)

    def done(self) -> None:
        self.add(-1)

    async def wait(self) -> None:
        if self._count > 0:
            waiter: Waiter[None] = Waiter()
            self._waiters.append(waiter)
            await waiter
