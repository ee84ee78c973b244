"""RWMutex: many readers or one writer. Source: Go's sync.RWMutex.

A waiting writer keeps new readers out. When it is done, the readers that came meanwhile go before the next writer.
"""

from client.golang.scheduler import Waiter


class RWMutex:
    """`async with lock.reading:`, `async with lock.writing:`.

    Work that never waits needs no `reading`: a `wait_until_readable` before it is enough, as no writer can come
    between.
    """

    __slots__ = ("_lock", "reading", "writing")

    def __init__(self) -> None:
        self._lock = _LockState()
        self.reading = _ReadGuard(self._lock)
        self.writing = _WriteGuard(self._lock)

    async def wait_until_readable(self) -> None:
        if self._lock.has_writer:
            async with self.reading:
                pass


class _LockState:
    """`has_writer`: a writer holds the lock, or waits for the last readers."""

    __slots__ = ("_drained", "_readers", "_waiting_readers", "_waiting_writers", "has_writer")

    def __init__(self) -> None:
        self.has_writer = False
        self._readers = 0
        self._drained: Waiter[None] | None = None
        self._waiting_readers: list[Waiter[None]] = []
        self._waiting_writers: list[Waiter[None]] = []

    async def acquire_read(self) -> None:
        if self.has_writer:
            await _park_in(self._waiting_readers)  # the task that wakes us has counted us as a reader
        else:
            self._readers += 1

    def release_read(self) -> None:
        self._readers -= 1
        if self._readers == 0 and self._drained is not None:
            self._drained.wake(None)
            self._drained = None

    async def acquire_write(self) -> None:
        if self.has_writer:
            await _park_in(self._waiting_writers)  # the task that wakes us leaves `has_writer` set
        self.has_writer = True
        if self._readers:
            self._drained = Waiter()
            await self._drained

    def release_write(self) -> None:
        while self._waiting_readers:
            self._readers += 1
            self._waiting_readers.pop(0).wake(None)
        self.has_writer = bool(self._waiting_writers)
        if self._waiting_writers:
            self._waiting_writers.pop(0).wake(None)


class _ReadGuard:
    __slots__ = ("_lock",)

    def __init__(self, lock: _LockState) -> None:
        self._lock = lock

    async def __aenter__(self) -> None:
        await self._lock.acquire_read()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release_read()


class _WriteGuard:
    __slots__ = ("_lock",)

    def __init__(self, lock: _LockState) -> None:
        self._lock = lock

    async def __aenter__(self) -> None:
        await self._lock.acquire_write()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release_write()


async def _park_in(queue: list[Waiter[None]]) -> None:
    waiter: Waiter[None] = Waiter()
    queue.append(waiter)
    await waiter
