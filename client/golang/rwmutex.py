"""RWMutex: many readers or one writer. Source: Go's sync.RWMutex.

A writer that waits keeps new readers out; when one is done, the readers that came meanwhile go before the next writer.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class RWMutex:
    """Work that never waits needs no `reading`: a `turn_to_read` before it is enough, as no writer can come between."""

    __slots__ = ("_drained", "_readers", "_waiting_readers", "_waiting_writers", "_written")

    def __init__(self) -> None:
        self._readers = 0
        self._written = False
        """By a writer that writes, or waits for readers to end."""
        self._drained: asyncio.Future[None] | None = None
        self._waiting_readers: deque[asyncio.Future[None]] = deque()
        self._waiting_writers: deque[asyncio.Future[None]] = deque()

    async def turn_to_read(self) -> None:
        if self._written:
            async with self.reading():
                pass

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        if self._written:
            await _parked(self._waiting_readers)
        else:
            self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            if self._readers == 0 and self._drained is not None:
                self._drained.set_result(None)
                self._drained = None

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        if self._written:
            await _parked(self._waiting_writers)
        self._written = True
        if self._readers:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained
        try:
            yield
        finally:
            while self._waiting_readers:
                self._readers += 1
                self._waiting_readers.popleft().set_result(None)
            self._written = bool(self._waiting_writers)
            if self._waiting_writers:
                self._waiting_writers.popleft().set_result(None)


async def _parked(queue: "deque[asyncio.Future[None]]") -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    queue.append(future)
    await future
