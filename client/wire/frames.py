"""Frames: four bytes of size, then exactly so many bytes. Bytes in, frames out; nothing here waits or reads.

TCP keeps order, not borders: a frame may come in pieces (its size, too), and one read may hold several. A size of 0 is
legal. A negative size, or one over the limit, ends the connection before a byte is set aside for it: that is what
Kafka's own broker and clients do. Source: apache/kafka NetworkReceive.java.
"""

import struct

from client.wire.exceptions import WireError

_SIZE = struct.Struct(">i")

MAX_FRAME_BYTES = 100 * 1024 * 1024
"""Default limit of a frame's size, in bytes: the one that Sarama puts on responses (`MaxResponseSize`) and Apache
Kafka on requests (`socket.request.max.bytes`)."""


class FrameError(WireError):
    """The rest of the stream cannot be read. `frames` are the whole ones before it in the same `feed`."""

    def __init__(self, text: str, frames: tuple[bytes, ...] = ()) -> None:
        super().__init__(text)
        self.frames = frames


def frame(payload: bytes | bytearray) -> bytes:
    """The payload with its size before it."""
    return _SIZE.pack(len(payload)) + payload


class FrameReader:
    """Cuts a stream of bytes into frames. After a FrameError it raises the same text for ever."""

    def __init__(self, *, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._error_text: str | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Take what was read; return the payloads that are now whole, in order, without their sizes.

        Raises FrameError at a size that is negative or over the limit.
        """
        if self._error_text is not None:
            raise FrameError(self._error_text)
        self._buffer += data
        held = self._buffer
        frames: list[bytes] = []
        start = 0
        while len(held) - start >= 4:
            (size,) = _SIZE.unpack_from(held, start)
            if not 0 <= size <= self._max_bytes:
                self._error_text = self._size_error(size)
                del held[:]
                raise FrameError(self._error_text, tuple(frames))
            end = start + 4 + size
            if end > len(held):
                break
            frames.append(bytes(held[start + 4 : end]))
            start = end
        if start:
            del held[:start]
        return frames

    def eof(self) -> None:
        """The stream has ended. Raises FrameError where that cuts a frame, saying where in it."""
        held = len(self._buffer)
        if held == 0:
            return
        if held < 4:
            raise FrameError(f"end of stream inside a frame's size: {held} of 4 bytes")
        (size,) = _SIZE.unpack_from(self._buffer)
        raise FrameError(f"end of stream inside a frame's body: {held - 4} of {size} bytes")

    def _size_error(self, size: int) -> str:
        if size < 0:
            return f"a frame's size is negative: {size}"
        return f"a frame's size of {size} bytes is over the limit of {self._max_bytes}"
