"""The receiving half of a connection: puts the stream in order and holds it until the process reads."""

from harness.environments.sim.segment import FIN, Block, Segment

RECEIVE_BUFFER = 65_536
"""Bytes that the kernel takes before the process reads: half of tcp_rmem's default, what it advertises at first."""

_SMALLEST_FULL = 536
"""What counts as a full segment until a larger one has come."""


class Receiver:
    """`next_seq` is the offset of the next byte expected; `ended` that the peer's FIN has come in order. `early` is
    what came while earlier bytes are missing. `full` is how large the peer's full segments are; `acknowledged` the
    offset that it was given last; `echo` when what an acknowledgement answers was sent."""

    __slots__ = ("_chunks", "acknowledged", "early", "echo", "edge", "ended", "full", "next_seq", "unread")

    def __init__(self) -> None:
        self.next_seq = 0
        self.ended = False
        self.unread = 0
        self.edge = RECEIVE_BUFFER
        self._chunks: list[bytes] = []
        self.early: dict[int, Segment] = {}
        self.echo = 0.0
        self.full = _SMALLEST_FULL
        self.acknowledged = 0

    def is_outdated(self, segment: Segment) -> bool:
        """Whether something that was sent later has come in order: by a whole millisecond, and one is forgiven. On
        loopback nothing overtakes anything."""
        return False

    def came_twice(self, segment: Segment) -> None:
        """The next acknowledgement says so, where packets are ordinary."""

    def hear(self, segment: Segment) -> None:
        """Note when a segment was sent, with data or without: of several, an acknowledgement echoes the first."""
        if segment.seq <= self.acknowledged:
            self.echo = segment.at

    def take(self, segment: Segment) -> bool:
        """Take a segment's payload and FIN. True where the process has something new to read."""
        if segment.seq > self.next_seq:
            self.early[segment.seq] = segment
            return False
        if segment.seq < self.next_seq:
            return False
        self._append(segment)
        while self.early:
            later = self.early.pop(self.next_seq, None)
            if later is None:
                break
            self._append(later)
        return True

    def _append(self, segment: Segment) -> None:
        if segment.payload:
            size = len(segment.payload)
            self._chunks.append(segment.payload)
            self.unread += size
            self.next_seq += size
            if size > self.full:
                self.full = size
        if segment.flags & FIN:
            self.next_seq += 1
            self.ended = True

    def read(self, limit: int) -> bytes:
        """Up to `limit` bytes that have arrived; empty where none have."""
        chunks = self._chunks
        if not chunks:
            return b""
        if len(chunks) == 1 and len(chunks[0]) <= limit:
            self.unread = 0
            return chunks.pop(0)
        parts: list[bytes] = []
        left = limit
        while chunks and left:
            chunk = chunks.pop(0)
            if len(chunk) > left:
                chunks.insert(0, chunk[left:])
                chunk = chunk[:left]
            parts.append(chunk)
            left -= len(chunk)
        self.unread -= limit - left
        return b"".join(parts)

    def advertise(self) -> int:
        """The offset up to which the peer may send; never moves back."""
        edge = self.next_seq + RECEIVE_BUFFER - self.unread
        if edge > self.edge:
            self.edge = edge
        return self.edge

    def keeps_window(self) -> bool:
        """Whether the peer would be given as large a window as it was the last time."""
        return RECEIVE_BUFFER - self.unread >= self.edge - self.acknowledged

    def sacks(self) -> tuple[Block, ...]:
        """What has come while earlier bytes are missing, as an acknowledgement says it."""
        return tuple((each.seq, each.end) for each in self.early.values()) if self.early else ()

    def window_opened(self) -> bool:
        """Whether reading has opened the window enough to tell the peer at once."""
        opened = self.next_seq + RECEIVE_BUFFER - self.unread - self.edge
        return opened >= RECEIVE_BUFFER // 2 and self.edge - self.next_seq < RECEIVE_BUFFER // 2
