"""RWMutex: many readers or one writer. Source: Go's sync.RWMutex.

A writer that waits keeps new readers out; when one is done, the readers that came meanwhile go before the next writer.
"""

import asyncio


class RWMutex:
    """`async with lock.reading:`, `async with lock.writing:`.

    Work that never waits needs no `reading`: a `turn_to_read` before it is enough, as no writer can come between.
    """

    __slots__ = ("_lock", "reading", "writing")

    def __init__(self) -> None:
        self._lock = _Lock()
        self.reading = _Reading(self._lock)
        self.writing = _Writing(self._lock)

    async def turn_to_read(self) -> None:
        if self._lock.written:
            async with self.reading:
                pass


class _Lock:
    """Who has it and who waits for it. `written`: by a writer that writes, or waits for readers to end."""

    __slots__ = ("_drained", "_readers", "_waiting_readers", "_waiting_writers", "written")

    def __init__(self) -> None:
        self.written = False
        self._readers = 0
        self._drained: asyncio.Future[None] | None = None
        self._waiting_readers: list[asyncio.Future[None]] = []
        self._waiting_writers: list[asyncio.Future[None]] = []

    async def lock_to_read(self) -> None:
        if self.written:
            await _parked(self._waiting_readers)  # whoever wakes us has counted us in
        else:
            self._readers += 1

    def unlock_to_read(self) -> None:
        self._readers -= 1
        if self._readers == 0 and self._drained is not None:
            self._drained.set_result(None)
            self._drained = None

    async def lock_to_write(self) -> None:
        if self.written:
            await _parked(self._waiting_writers)  # whoever wakes us leaves it marked as written
        self.written = True
        if self._readers:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    def unlock_to_write(self) -> None:
        while self._waiting_readers:
            self._readers += 1
            self._waiting_readers.pop(0).set_result(None)
        self.written = bool(self._waiting_writers)
        if self._waiting_writers:
            self._waiting_writers.pop(0).set_result(None)


class _Reading:
    __slots__ = ("_lock",)

    def __init__(self, lock: _Lock) -> None:
        self._lock = lock

    async def __aenter__(self) -> None:
        await self._lock.lock_to_read()

    async def __aexit__(self, *_: object) -> None:
        self._lock.unlock_to_read()


class _Writing:
    __slots__ = ("_lock",)

    def __init__(self, lock: _Lock) -> None:
        self._lock = lock

    async def __aenter__(self) -> None:
        await self._lock.lock_to_write()

    async def __aexit__(self, *_: object) -> None:
        self._lock.unlock_to_write()


async def _parked(queue: "list[asyncio.Future[None]]") -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    queue.append(future)
    await future
