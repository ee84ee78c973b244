"""Pickled values between faultlab and a cell, each with its length before it, over one stream socket.

Both ends are the same program, forked; the subject under test never holds the socket.
"""

import contextlib
import pickle
import select
import socket
import struct
import time
from typing import Any

_LENGTH = struct.Struct(">Q")


class ChannelClosed(Exception):
    """The other end is gone."""


class Channel:
    """One end. Not for several threads at once."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(True)
        self._end = end
        self._received = bytearray()

    def fileno(self) -> int:
        return self._end.fileno()

    def send(self, value: object) -> None:
        """Send a value, however large. Raises ChannelClosed."""
        body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        try:
            self._end.sendall(_LENGTH.pack(len(body)) + body)
        except (BrokenPipeError, ConnectionResetError) as exc:
            raise ChannelClosed from exc

    def try_send(self, value: object) -> None:
        """Send a small value unless that would block or the other end is closed: for progress, which never disturbs."""
        if select.select((), (self._end,), (), 0)[1]:
            with contextlib.suppress(ChannelClosed):
                self.send(value)

    def receive(self, deadline_s: float | None) -> Any:
        """The next value. Raises TimeoutError when `time.monotonic()` reaches `deadline_s`, ChannelClosed at the
        end."""
        while True:
            if len(self._received) >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._received)
                if len(self._received) >= _LENGTH.size + length:
                    body = bytes(self._received[_LENGTH.size : _LENGTH.size + length])
                    del self._received[: _LENGTH.size + length]
                    return pickle.loads(body)  # noqa: S301 - both ends are this program
            waiting = select.poll()
            waiting.register(self._end, select.POLLIN)
            left_s = None if deadline_s is None else max(0.0, deadline_s - time.monotonic())
            if not waiting.poll(None if left_s is None else left_s * 1000):
                raise TimeoutError
            try:
                data = self._end.recv(1 << 18)
            except ConnectionResetError as exc:
                raise ChannelClosed from exc
            if not data:
                raise ChannelClosed
            self._received += data

    def close(self) -> None:
        self._end.close()
