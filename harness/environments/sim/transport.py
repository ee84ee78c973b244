"""An asyncio transport over a simulated socket. It behaves as asyncio's own selector transport does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.environments.sim.segment import Address

if TYPE_CHECKING:
    from harness.environments.sim.loop import SimLoop
    from harness.environments.sim.socket import TcpSocket

READ_SIZE = 256 * 1024
"""Bytes that asyncio asks for in one read."""

HIGH_WATER = 64 * 1024
"""asyncio's default: bytes that wait in the process before `drain` blocks."""


class SimTransport(asyncio.Transport):
    """Socket and protocol of one connection. Made on the socket's host."""

    def __init__(
        self,
        loop: SimLoop,
        socket: TcpSocket,
        protocol: asyncio.BaseProtocol,
        *,
        detached: Callable[[SimTransport], None] | None = None,
    ) -> None:
        super().__init__({"peername": socket.remote, "sockname": socket.local, "socket": socket})
        self._loop = loop
        self._socket = socket
        self._protocol: Any = protocol
        self._detached = detached
        self._unsent: list[bytes | memoryview] = []
        self._unsent_bytes = 0
        self._high = HIGH_WATER
        self._low = HIGH_WATER // 4
        self._write_paused = False
        self._read_paused = False
        self._closing = False
        self._lost = False
        self._eof = False
        socket.set_handler(self)
        loop.transports[self] = None
        loop.call_soon(self._begin)

    def __repr__(self) -> str:
        state = "closing" if self._closing else "open"
        return f"<SimTransport {self._socket.local} -> {self._socket.remote} {state} unsent={self._unsent_bytes}>"

    def _begin(self) -> None:
        self._protocol.connection_made(self)
        self._socket.want_read(wanted=self.is_reading())

    # Called by the kernel.

    def connected(self, error: OSError | None) -> None:
        raise AssertionError("a transport is made for a connected socket")

    def read_ready(self) -> None:
        if self._lost:
            return
        try:
            data = self._socket.receive(READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            self._force_close(error)
            return
        if data:
            self._feed(data)
        elif self._protocol.eof_received():
            self._socket.want_read(wanted=False)
        else:
            self.close()

    def _feed(self, data: bytes) -> None:
        if not isinstance(self._protocol, asyncio.BufferedProtocol):
            self._protocol.data_received(data)
            return
        left = memoryview(data)
        while left:
            buffer = memoryview(self._protocol.get_buffer(len(left)))
            size = min(len(buffer), len(left))
            buffer[:size] = left[:size]
            self._protocol.buffer_updated(size)
            left = left[size:]

    def write_ready(self) -> None:
        if self._lost:
            return
        try:
            self._flush()
        except OSError as error:
            self._force_close(error)
            return
        if self._write_paused and self._unsent_bytes <= self._low:
            self._write_paused = False
            self._protocol.resume_writing()
        if not self._unsent:
            self._socket.want_write(wanted=False)
            if self._closing:
                self._lost = True
                self._connection_lost(None)
            elif self._eof:
                self._socket.shutdown_write()

    def _flush(self) -> None:
        while self._unsent:
            part = self._unsent[0]
            size = self._socket.send(part)
            self._unsent_bytes -= size
            if size < len(part):
                self._unsent[0] = memoryview(part)[size:]
                return
            self._unsent.pop(0)

    # Called by the process.

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return not self._closing and not self._read_paused

    def pause_reading(self) -> None:
        if self.is_reading():
            self._read_paused = True
            self._socket.want_read(wanted=False)

    def resume_reading(self) -> None:
        if not self._closing and self._read_paused:
            self._read_paused = False
            self._socket.want_read(wanted=True)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if high is None:
            high = HIGH_WATER if low is None else 4 * low
        if low is None:
            low = high // 4
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self._high, self._low = high, low
        self._pause_if_full()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def get_write_buffer_size(self) -> int:
        return self._unsent_bytes

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._eof:
            raise RuntimeError("Cannot call write() after write_eof()")
        if self._lost or not data:
            return
        self._unsent.append(bytes(data))
        self._unsent_bytes += len(data)
        if len(self._unsent) > 1:
            self._pause_if_full()
            return
        try:
            self._flush()
        except OSError as error:
            self._force_close(error)
            return
        if self._unsent:
            self._socket.want_write(wanted=True)
            self._pause_if_full()

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self._closing and not self._eof:
            self._eof = True
            if not self._unsent:
                self._socket.shutdown_write()

    def close(self) -> None:
        """What the process has written is still handed to the kernel, however long that takes."""
        if self._closing:
            return
        self._closing = True
        self._socket.want_read(wanted=False)
        if not self._unsent:
            self._lost = True
            self._loop.call_soon(self._connection_lost, None)

    def abort(self) -> None:
        """What the kernel has not taken yet is dropped; what it has is still delivered."""
        self._force_close(None)

    def discard(self) -> None:
        """The simulation is over: close. The protocol's `connection_lost` breaks reference cycles."""
        self._closing = True
        self._lost = True
        protocol, self._protocol, self._detached = self._protocol, None, None
        protocol.connection_lost(None)

    def _force_close(self, error: OSError | None) -> None:
        if self._lost:
            return
        self._unsent.clear()
        self._unsent_bytes = 0
        self._closing = True
        self._lost = True
        self._socket.want_read(wanted=False)
        self._socket.want_write(wanted=False)
        self._loop.call_soon(self._connection_lost, error)

    def _connection_lost(self, error: OSError | None) -> None:
        del self._loop.transports[self]
        try:
            self._protocol.connection_lost(error)
        finally:
            self._protocol = None  # as asyncio does: breaks a reference cycle
            self._socket.close()
            if self._detached is not None:
                self._detached(self)

    def _pause_if_full(self) -> None:
        if self._unsent_bytes > self._high and not self._write_paused:
            self._write_paused = True
            self._protocol.pause_writing()


def validated_address(host: Any, port: Any) -> Address:
    """An IP address and a port. Raises ValueError for anything else."""
    is_ip = isinstance(host, str) and (":" in host or (host.count(".") == 3 and host.replace(".", "").isdigit()))
    if is_ip and isinstance(port, int):
        return host, port
    raise ValueError(f"virtual time: wants an IP address and a port number, got {host!r} and {port!r}")
