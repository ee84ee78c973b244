"""The receiving half on an ordinary network: a window that grows with what comes, as Linux tunes it.

It starts at 64 KiB. Each segment opens it by twice its size, up to what the receive buffer's memory holds. Once a round
trip the buffer is fitted to what the process has read in one: to twice as much, and where that has grown, to as much
more as a sender in slow start sends until the window is seen. A process that reads at once is never what holds its
peer back; one that does not read keeps the window as it is. How fast a process reads within a round trip is chance on a
real machine: one that is slower than the packets come gets a larger window a round trip later, or several.

Source: Linux 6.18 net/ipv4/tcp_input.c (tcp_grow_window, tcp_rcv_rtt_measure, tcp_rcv_rtt_measure_ts,
tcp_rcv_rtt_update, tcp_rcv_space_adjust, tcp_rcvbuf_grow), tcp_output.c (__tcp_select_window).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.environments.sim.receiver import RECEIVE_BUFFER, Receiver
from harness.environments.sim.segment import milliseconds

if TYPE_CHECKING:
    from harness.environments.sim.loop import SimLoop
    from harness.environments.sim.segment import Block, Segment

_PAYLOAD = 157 / 256
"""Of the memory that a full segment takes, what its payload is (tcpi_rcv_ssthresh at its largest / 131,072)."""

_FIRST_LIMIT = round(131_072 * _PAYLOAD)
_LAST_LIMIT = round(6_291_456 * _PAYLOAD)
"""What fits into the receive buffer that a connection begins with, and into the largest (net.ipv4.tcp_rmem)."""

_FIRST_READ = 10 * 1_448
"""What the process is taken to read in a round trip until that was measured: the initial window."""

_LEAST_TO_GROW = 128

_BLOCKS_KEPT = 4
_BLOCKS_SENT = 3


class TunedReceiver(Receiver):
    """A receiver whose window grows."""

    __slots__ = (
        "_blocks",
        "_echoed_ms",
        "_limit",
        "_loop",
        "_read",
        "_round_began_s",
        "_round_seq",
        "_trip_s",
        "_twice",
        "_window",
        "_window_began_s",
        "_window_ends",
    )

    def __init__(self, loop: SimLoop) -> None:
        super().__init__()
        self._loop = loop
        self._blocks: list[Block] = []
        self._twice: Block | None = None
        self._window = RECEIVE_BUFFER
        self._window_ends = 0
        self._window_began_s = 0.0
        self._limit = _FIRST_LIMIT
        self._trip_s = 0.0
        self._echoed_ms = 0
        self._read = _FIRST_READ
        self._round_seq = 0
        self._round_began_s = loop.now

    def is_outdated(self, segment: Segment) -> bool:
        return milliseconds(self.echo) - milliseconds(segment.at) > 1

    def hear(self, segment: Segment) -> None:
        if segment.seq <= self.acknowledged and milliseconds(segment.at) >= milliseconds(self.echo):
            self.echo = segment.at

    def take(self, segment: Segment) -> bool:
        if segment.payload:
            self._measure(segment)
            self._fit()
        fresh = segment.seq >= self.next_seq and segment.seq not in self.early
        new = super().take(segment)
        self._twice = None
        if not fresh:
            self.came_twice(segment)
        elif new:
            self._blocks = [block for block in self._blocks if block[0] > self.next_seq]
        if not new and segment.seq > self.next_seq:
            self._select(segment.seq, segment.end)
        if fresh and len(segment.payload) >= _LEAST_TO_GROW:
            room = self._limit - self.unread - self._window
            if room > 0:
                self._window += min(room, 2 * len(segment.payload))
        return new

    def came_twice(self, segment: Segment) -> None:
        self._twice = segment.seq, segment.end

    def sacks(self) -> tuple[Block, ...]:
        """As many blocks as fit beside timestamps, the latest first."""
        if self._twice is None:
            return tuple(self._blocks[:_BLOCKS_SENT]) if self._blocks else ()
        blocks = (self._twice, *self._blocks)[:_BLOCKS_SENT]
        self._twice = None
        return blocks

    def advertise(self) -> int:
        edge = self.next_seq + self._space()
        if edge > self.edge:
            self.edge = edge
        return self.edge

    def keeps_window(self) -> bool:
        return self._space() >= self.edge - self.acknowledged

    def window_opened(self) -> bool:
        window = self.edge - self.next_seq
        return 2 * window <= self._limit and self._space() >= max(2 * window, 1)

    def _select(self, seq: int, end: int) -> None:
        """Put it first, with those that it touches; the last of too many is forgotten."""
        apart = []
        for start, stop in self._blocks:
            if seq <= stop and start <= end:
                seq, end = min(seq, start), max(end, stop)
            else:
                apart.append((start, stop))
        self._blocks = [(seq, end), *apart[: _BLOCKS_KEPT - 1]]

    def _space(self) -> int:
        return max(0, min(self._window, self._limit - self.unread))

    def _measure(self, segment: Segment) -> None:
        """The round trip: of a window's worth of data, which takes one at least; and in whole milliseconds, which is
        what timestamps have, of the first full segment that answers an acknowledgement of ours."""
        now_s = self._loop.now
        if self.next_seq >= self._window_ends:
            if self._window_ends:
                sample_s = now_s - self._window_began_s
                self._trip_s = min(self._trip_s, sample_s) if self._trip_s else sample_s
            self._window_ends = self.next_seq + self.edge - self.acknowledged
            self._window_began_s = now_s
        echo_ms = int(1000 * segment.echo)
        if echo_ms == self._echoed_ms:
            return
        self._echoed_ms = echo_ms
        sample_s = (int(1000 * now_s) - echo_ms) / 1000
        if not sample_s or len(segment.payload) < self.full:
            return
        if not self._trip_s or sample_s < self._trip_s:
            self._trip_s = sample_s
        else:
            self._trip_s += (sample_s - self._trip_s) / 8

    def _fit(self) -> None:
        """Fit the buffer to what was read in a round trip, when that is over."""
        if not self._trip_s or self._loop.now - self._round_began_s < self._trip_s:
            return
        copied = self.next_seq - self.unread
        read = copied - self._round_seq - self.unread
        if read > self._read:
            window = 2 * read
            window += 2 * (window * (read - self._read) // self._read)
            self._read = read
            self._limit = max(self._limit, min(window, _LAST_LIMIT))
        self._round_seq, self._round_began_s = copied, self._loop.now
