"""Lines over pipes: what arrives is cut and stamped, what leaves waits until the kernel has it."""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import NamedTuple

_LINE_LIMIT_BYTES = 1 << 20
_BUFFERED_BYTES = 4 << 20
_LINE_OVERHEAD_BYTES = 128


class TimedLine(NamedTuple):
    """A line without its end, and the value of CLOCK_MONOTONIC at which it was read."""

    text: bytes
    received_ns: int


class LineReader(asyncio.Protocol):
    """Cuts what arrives into lines and stamps each with the moment at which it was read.

    Stops reading while 4 MiB wait to be taken, so that a flooding subject blocks instead of filling memory.
    """

    def __init__(self) -> None:
        self._lines: deque[TimedLine] = deque()
        self._waiting_bytes = 0
        self._partial = bytearray()
        self._ended = False
        self._too_long = False
        self._changed = asyncio.Event()
        self._transport: asyncio.ReadTransport | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._take(bytes(self._partial) + piece, now_ns)
            self._partial.clear()
        self._partial += rest
        if len(self._partial) > _LINE_LIMIT_BYTES:
            self._stop_too_long()
        elif self._waiting_bytes > _BUFFERED_BYTES and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._changed.set()

    def _take(self, text: bytes, now_ns: int) -> None:
        if len(text) > _LINE_LIMIT_BYTES:
            self._stop_too_long()
        elif not self._too_long:
            self._lines.append(TimedLine(text, now_ns))
            self._waiting_bytes += len(text) + _LINE_OVERHEAD_BYTES

    def _stop_too_long(self) -> None:
        self._too_long = True
        self._partial.clear()
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._partial:
            self._take(bytes(self._partial), time.monotonic_ns())
        self._ended = True
        self._changed.set()

    async def lines(self) -> AsyncIterator[TimedLine]:
        """For one reader. Raises ValueError at a line above 1 MiB."""
        while True:
            while self._lines:
                line = self._lines.popleft()
                self._waiting_bytes -= len(line.text) + _LINE_OVERHEAD_BYTES
                yield line
            if self._too_long:
                raise ValueError(f"a line is longer than {_LINE_LIMIT_BYTES} bytes")
            if self._paused and self._transport is not None:
                self._paused = False
                self._transport.resume_reading()
            if self._ended and not self._lines:
                return
            self._changed.clear()
            await self._changed.wait()


async def open_reader(pipe: int) -> LineReader:
    """Read lines from the read end of a pipe, which is closed at its end."""
    lines = LineReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: lines, os.fdopen(pipe, "rb", buffering=0))
    return lines


async def open_writer(pipe: int) -> asyncio.StreamWriter:
    """Write to the write end of a pipe; `drain` returns when the kernel has everything."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(pipe, "wb", buffering=0)
    )
    transport.set_write_buffer_limits(high=0)
    return asyncio.StreamWriter(transport, protocol, None, loop)
