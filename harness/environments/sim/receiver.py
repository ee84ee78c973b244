"""The receiving half of a connection: puts the stream in order and holds it until the process reads."""

from harness.environments.sim.segment import FIN, Block, Segment

RECEIVE_BUFFER = 65_536
"""Bytes that the kernel takes before the process reads: half of tcp_rmem's default, what it advertises at first."""


class Receiver:
    """`next_seq` is the offset of the next byte expected; `ended` that the peer's FIN has come in order. `early` is
    what came while earlier bytes are missing. `echo` is when the last segment was sent that came in order, or again."""

    __slots__ = ("_chunks", "early", "echo", "edge", "ended", "next_seq", "unread")

    def __init__(self) -> None:
        self.next_seq = 0
        self.ended = False
        self.unread = 0
        self.edge = RECEIVE_BUFFER
        self._chunks: list[bytes] = []
        self.early: dict[int, Segment] = {}
        self.echo = 0.0

    def take(self, segment: Segment) -> bool:
        """Take a segment's payload and FIN. True where the process has something new to read."""
        if segment.seq > self.next_seq:
            self.early[segment.seq] = segment
            return False
        self.echo = segment.at
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
            self._chunks.append(segment.payload)
            self.unread += len(segment.payload)
            self.next_seq += len(segment.payload)
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

    def sacks(self) -> tuple[Block, ...]:
        """What has come while earlier bytes are missing, as an acknowledgement says it."""
        return tuple((each.seq, each.end) for each in self.early.values()) if self.early else ()

    def window_opened(self) -> bool:
        """Whether reading has opened the window enough to tell the peer at once."""
        opened = self.next_seq + RECEIVE_BUFFER - self.unread - self.edge
        return opened >= RECEIVE_BUFFER // 2 and self.edge - self.next_seq < RECEIVE_BUFFER // 2
