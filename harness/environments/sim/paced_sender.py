"""The sending half on an ordinary network: what is on its way stays within a congestion window.

Beside what `Sender` does: what there is room for waits for more acknowledgements, where that is less than a third of
the window (segments leave in batches); a probe of the tail is new data where there is some, one segment beyond the
window; after a time-out everything is taken for lost, and sent again as the window grows; and an acknowledgement of
what was sent before the retransmission says that nothing was lost. Left out: of several gaps in the stream one is
filled in each round trip.

Source: Linux 6.18 net/ipv4/tcp_output.c (tcp_write_xmit, tcp_grow_skb, tcp_tso_should_defer, tcp_tso_autosize,
tcp_cwnd_test, tcp_send_loss_probe), tcp.c (tcp_xmit_size_goal), tcp_input.c (tcp_update_pacing_rate,
tcp_process_tlp_ack, tcp_may_undo).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.environments.sim.congestion import CongestionWindow
from harness.environments.sim.send_buffer import SendBuffer
from harness.environments.sim.sender import Sender
from harness.environments.sim.timers import RTO_MAX_S

if TYPE_CHECKING:
    from harness.environments.sim.segment import Segment
    from harness.environments.sim.socket import TcpSocket

_LARGEST_BATCH = 65_536
"""Bytes that the kernel hands to a network card at once, which cuts them into segments."""

_WAITS_WITHIN_S = 0.001
"""A sender waits for more acknowledgements only where it has sent something so lately."""


class PacedSender(Sender):
    __slots__ = (
        "_batch_end",
        "_buffer",
        "_made_until",
        "_probed_until",
        "_resent_at",
        "_sent_at",
        "_timed_out",
        "_widest",
        "_window",
    )

    def __init__(self, socket: TcpSocket, edge: int) -> None:
        super().__init__(socket, edge)
        self._window = CongestionWindow(socket.loop.now)
        self._widest = 0
        self._batch_end = self._made_until = 0
        self._sent_at = socket.loop.now
        self._resent_at = 0.0
        self._probed_until = 0
        self._timed_out = False
        self._buffer = SendBuffer()

    @property
    def room(self) -> int:
        return self._buffer.room(self.queued, self.acknowledged + self.queued - self.next_seq, self._whole_batch())

    @property
    def writable(self) -> bool:
        return self._buffer.writable(self.queued)

    def acknowledge(self, segment: Segment) -> bool:
        made_room = super().acknowledge(segment)
        if made_room and self._socket.writer_waits and len(self._flight) < self._window.size:
            self._buffer.fit(self._window.size)
        return made_room

    def write(self, data: bytes | memoryview) -> None:
        if not self._flight:
            now = self._socket.loop.now
            self._window.resume(now - self._sent_at, self.round_trip.timeout_s, now)
        if not self._unsent:
            self._batch_end = self._made_until = self.next_seq
        super().write(data)

    def _arrived(self, segments: int, by: Segment) -> None:
        self._tail_probed = by.ack < self._probed_until
        if self._lost_until is not None:
            if by.echo and by.echo < self._resent_at:
                self._window.undo()
                self._lost_until = None
                for sent in self._flight:
                    sent.lost = False
            elif by.ack >= self._lost_until:
                self._window.recovered()
        self._window.acknowledged(segments)

    def _send_unsent(self) -> bool:
        window, flight = self._window, self._flight
        segment_size = self._socket.network.segment_size
        before, most = self.next_seq, self._largest_batch()
        limited = False
        while self._unsent and self.next_seq < self._edge and len(flight) < window.size:
            room = window.size - len(flight)
            quota = min(room, max(window.size >> 1, 1), most)
            batch = self._next_batch(quota * segment_size)
            if batch > segment_size and self._waits(room, batch, most):
                limited = room * segment_size <= min(batch, self._edge - self.next_seq - 1)
                break
            if not self._send_segments(min(quota, -(-batch // segment_size))):
                break
        sent = self.next_seq > before
        limited = limited or len(flight) >= window.size
        now = self._socket.loop.now
        if sent:
            self._sent_at = now
        if sent or limited:
            window.sent(
                len(flight),
                self.acknowledged,
                self.next_seq,
                limited=limited,
                timeout_s=self.round_trip.timeout_s,
                now_s=now,
            )
        return sent

    def _send_segments(self, number: int) -> bool:
        """Send so many, or as many as the peer has room for. False where one was refused on the way out."""
        largest = self._socket.network.segment_size
        while number and self.next_seq < self._edge:
            if not self._send_new(self._next_payload(min(largest, self._edge - self.next_seq))):
                return False
            number -= 1
        return True

    def _next_batch(self, wanted: int) -> int:
        """Bytes that are left of what the kernel has put together to be sent at once; from the next one it takes what
        is missing to as many as are `wanted`."""
        made = self._whole_batch()
        if self.next_seq >= self._batch_end:
            if self._batch_end == self._made_until:
                self._made_until += made
            self._batch_end = self._made_until
        if self._batch_end - self.next_seq < wanted:
            if self._batch_end == self._made_until:
                self._made_until += made
            self._batch_end = min(self.next_seq + wanted, self._made_until)
        return min(self._batch_end, self.acknowledged + self.queued) - self.next_seq

    def _whole_batch(self) -> int:
        """Bytes that the kernel puts together, if the process has so many: half of what the peer has had room for."""
        self._widest = max(self._widest, self._edge - self.acknowledged)
        segment_size = self._socket.network.segment_size
        return min(_LARGEST_BATCH, max(self._widest >> 1, segment_size)) // segment_size * segment_size

    def _largest_batch(self) -> int:
        """Segments that are sent at once: what the path takes in a millisecond, and more where it is short."""
        round_trip, window = self.round_trip, self._window
        segment_size = self._socket.network.segment_size
        gain = 2.0 if window.size < window.threshold / 2 else 1.2
        rate = gain * segment_size * max(window.size, len(self._flight)) / round_trip.smoothed_s
        size = int(rate) >> 10
        halvings = round(round_trip.least_s * 1e6) >> 9
        if halvings < 32:
            size += _LARGEST_BATCH >> halvings
        return max(min(size, _LARGEST_BATCH) // segment_size, 2)

    def _waits(self, room: int, batch: int, most: int) -> bool:
        """Whether a batch waits until there is room for more of it."""
        now, segment_size = self._socket.loop.now, self._socket.network.segment_size
        if not self._flight or now - self._sent_at > _WAITS_WITHIN_S:
            return False
        peers = self._edge - self.next_seq
        limit = min(peers, room * segment_size)
        if limit >= most * segment_size:
            return False
        last = self._batch_end >= self.acknowledged + self.queued
        if not last and limit >= batch:
            return False
        if limit >= min(self._edge - self.acknowledged, self._window.size * segment_size) // 3:
            return False
        return now - self._flight[0].at >= self.round_trip.smoothed_s / 2

    def _probe_tail(self) -> None:
        if not self._unsent or self.next_seq >= self._edge:
            super()._probe_tail()
            self._probed_until = self.next_seq
            return
        if self._send_segments(1):
            self._sent_at = self._socket.loop.now
            self._probed_until = self.next_seq
            self._tail_probed = True
        self._probing_tail = False
        self._arm(min(self.round_trip.timeout_s, RTO_MAX_S))

    def _lose(self, *, everything: bool) -> None:
        if self._lost_until is None:
            self._resent_at = self._socket.loop.now
        self._timed_out = everything
        if everything:
            self._window.time_out()
            for sent in self._flight[1:]:
                sent.lost = True
        else:
            self._window.lose_one()
        super()._lose(everything=everything)

    def _send_lost(self) -> None:
        if not self._timed_out:
            super()._send_lost()
            return
        flight = self._flight
        room = self._window.size - sum(not sent.lost for sent in flight)
        for sent in flight:
            if room <= 0:
                break
            if sent.lost:
                sent.lost = False
                self._send_again(sent)
                room -= 1
