"""One TCP stream, for tasks that block on it and for a loop that polls many of them.

A write is done when the kernel has all of it (`set_write_buffer_limits(high=0)`); closing drops what the kernel does
not have yet. The same code runs on real sockets and on virtual time: only asyncio's transport is used.
"""

import asyncio
from collections.abc import Callable
from typing import cast

from client.net.errors import Cause, NetError, Phase, from_os_error

_READ_AHEAD_BYTES = 1 << 20
"""Above this, unread bytes stay in the kernel, so that the peer's writes block."""


class Stream(asyncio.Protocol):
    """At most one task reads and one writes at a time. Every failure is a NetError in phase READ or WRITE.

    Tasks block in `read_full`, `write` and `drain`. Their deadlines are moments of the loop's clock in seconds, None:
    none; setting one also holds for an operation that is waiting.

    A loop that polls sets `on_ready`, which is called when no task waits and bytes, the end of the stream, an error or
    room for writing have come; it then uses `read_available`, `try_write` and `writable`, none of which wait.
    """

    def __init__(self, remote: str) -> None:
        self.remote = remote
        self.local: str | None = None
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._wanted_bytes = 0
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._read_deadline_at: float | None = None
        self._write_deadline_at: float | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._reading_paused = False
        self._writing_paused = False
        self._eof = False
        self._lost = False
        self._connection_error: OSError | None = None
        self._connection_error_reported = False
        self._closed = False
        self.on_ready: Callable[[], None] | None = None

    # Calls of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        name = transport.get_extra_info("sockname")
        self.local = f"{name[0]}:{name[1]}" if name else None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._reader is not None:
            if len(self._buffer) >= self._wanted_bytes:
                self._wake_reader()
            return
        if len(self._buffer) > _READ_AHEAD_BYTES and not self._reading_paused and self._transport is not None:
            self._transport.pause_reading()
            self._reading_paused = True
        if self.on_ready is not None:
            self.on_ready()

    def eof_received(self) -> bool:
        self._eof = True
        self._wake_reader()
        return True  # half-closed: our own direction stays open

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._connection_error = exc if isinstance(exc, OSError) else None
        self._wake_reader()
        self._wake_writer()

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        self._wake_writer()

    # Calls of the client.

    @property
    def buffered_bytes(self) -> int:
        """How much a read gets without waiting."""
        return len(self._buffer)

    @property
    def has_pending_error(self) -> bool:
        """Whether the kernel has an error (SO_ERROR) that no operation has raised yet."""
        return self._connection_error is not None and not self._connection_error_reported

    @property
    def open_for_reading(self) -> bool:
        """Whether more bytes can come."""
        return not (self._closed or self._eof or self._lost)

    def set_read_deadline(self, at_s: float | None) -> None:
        self._read_deadline_at = at_s
        if self._reader is not None:
            self._arm_reader()

    def set_write_deadline(self, at_s: float | None) -> None:
        self._write_deadline_at = at_s
        if self._writer is not None:
            self._arm_writer()

    async def read_full(self, size_bytes: int) -> bytes:
        """Exactly so many bytes. What a failed read had received is dropped."""
        assert self._reader is None, "two readers on one stream"
        if self._closed:
            raise self._error(Phase.READ, Cause.CLOSED)
        while len(self._buffer) < size_bytes:
            if self._eof or self._lost:
                raise self._end_of_stream_error()
            if self._read_deadline_at is not None and self._loop.time() >= self._read_deadline_at:
                self._buffer.clear()
                raise self._error(Phase.READ, Cause.TIMEOUT)
            self._resume_reading()
            self._wanted_bytes = size_bytes
            self._reader = self._loop.create_future()
            self._arm_reader()
            try:
                await self._reader
            finally:
                self._reader = None
                if self._read_timer is not None:
                    self._read_timer.cancel()
                    self._read_timer = None
            if self._closed:
                raise self._error(Phase.READ, Cause.CLOSED)
        taken = bytes(self._buffer[:size_bytes])
        del self._buffer[:size_bytes]
        return taken

    async def read_some(self) -> bytes:
        """What has come, at least one byte."""
        return await self.read_full(1) + self.read_buffered()

    def read_buffered(self) -> bytes:
        """What has come by now, nothing at the end of the stream either."""
        taken = bytes(self._buffer)
        self._buffer.clear()
        self._resume_reading()
        return taken

    def read_available(self, at_most_bytes: int) -> bytes:
        """What has come by now; empty where nothing has. Raises NetError at the end of the stream."""
        if self._closed:
            raise self._error(Phase.READ, Cause.CLOSED)
        if not self._buffer and (self._eof or self._lost):
            raise self._end_of_stream_error()
        taken = bytes(self._buffer[:at_most_bytes])
        del self._buffer[:at_most_bytes]
        if not self._buffer:
            self._resume_reading()
        return taken

    @property
    def writable(self) -> bool:
        """Whether the kernel has all that was written before."""
        return not self._writing_paused

    def try_write(self, data: bytes) -> bool:
        """Give data to the kernel; True if it took all of it, False if `drain` has to wait for that."""
        assert self._writer is None, "two writers on one stream"
        self._check_writable()
        if self._write_deadline_at is not None and self._loop.time() >= self._write_deadline_at:
            raise self._error(Phase.WRITE, Cause.TIMEOUT)
        assert self._transport is not None
        self._transport.write(data)
        # A transport whose send failed is closing at once and tells why on its next turn.
        return not self._writing_paused and not self._transport.is_closing()

    async def drain(self) -> None:
        """Wait until the kernel has all that was written, or the deadline."""
        assert self._transport is not None
        while self._writing_paused or (self._transport.is_closing() and not self._lost):
            self._writer = self._loop.create_future()
            self._arm_writer()
            try:
                await self._writer
            finally:
                self._writer = None
                if self._write_timer is not None:
                    self._write_timer.cancel()
                    self._write_timer = None
            self._check_writable()
            if self._writing_paused and self._deadline_passed(self._write_deadline_at):
                raise self._error(Phase.WRITE, Cause.TIMEOUT)
        self._check_writable()

    async def write(self, data: bytes) -> None:
        """Returns when the kernel has all of it."""
        if not self.try_write(data):
            await self.drain()

    def close(self) -> None:
        """Close at once; the kernel still sends what it has. Waiting operations fail with CLOSED."""
        if self._closed:
            return
        self._closed = True
        if self._transport is not None:
            self._transport.abort()
        self._wake_reader()
        self._wake_writer()

    # Waking and timing.

    def _deadline_passed(self, deadline_at: float | None) -> bool:
        return deadline_at is not None and self._loop.time() >= deadline_at

    def _arm_reader(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
        if self._read_deadline_at is not None:
            self._read_timer = self._loop.call_at(self._read_deadline_at, self._wake_reader)

    def _arm_writer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        if self._write_deadline_at is not None:
            self._write_timer = self._loop.call_at(self._write_deadline_at, self._wake_writer)

    def _resume_reading(self) -> None:
        if self._reading_paused and self._transport is not None:
            self._transport.resume_reading()
            self._reading_paused = False

    def _wake_reader(self) -> None:
        if self._reader is not None:
            if not self._reader.done():
                self._reader.set_result(None)
        elif self.on_ready is not None:
            self.on_ready()

    def _wake_writer(self) -> None:
        if self._writer is not None:
            if not self._writer.done():
                self._writer.set_result(None)
        elif self.on_ready is not None:
            self.on_ready()

    # Errors.

    def _error(self, phase: Phase, cause: Cause) -> NetError:
        return NetError(phase, cause, self.remote, self.local)

    def _end_of_stream_error(self) -> NetError:
        """Why no more bytes come. What had come of them is dropped."""
        partial = bool(self._buffer)
        self._buffer.clear()
        if self._connection_error is not None and not self._eof:
            self._connection_error_reported = True
            return from_os_error(Phase.READ, self._connection_error, self.remote, self.local)
        return self._error(Phase.READ, Cause.UNEXPECTED_EOF if partial else Cause.EOF)

    def _check_writable(self) -> None:
        if self._closed:
            raise self._error(Phase.WRITE, Cause.CLOSED)
        if self._lost:
            if self._connection_error is not None:
                self._connection_error_reported = True
                raise from_os_error(Phase.WRITE, self._connection_error, self.remote, self.local)
            raise self._error(Phase.WRITE, Cause.BROKEN_PIPE)
