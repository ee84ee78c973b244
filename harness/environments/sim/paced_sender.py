"""The sending half on an ordinary network: what is on its way stays within a congestion window.

Beside what `Sender` does: what there is room for waits for more acknowledgements, where that is less than a third of
the window (segments leave in batches); a probe of the tail is new data where there is some, one segment beyond the
window; what is lost is sent again as the window allows (`Scoreboard`, `Recovery`).

Source: Linux 6.18 net/ipv4/tcp_output.c (tcp_write_xmit, tcp_grow_skb, tcp_tso_should_defer, tcp_tso_autosize,
tcp_cwnd_test, tcp_schedule_loss_probe, tcp_send_loss_probe, tcp_xmit_retransmit_queue), tcp.c (tcp_xmit_size_goal),
tcp_input.c (tcp_ack, tcp_ack_update_rtt, tcp_process_tlp_ack, tcp_rearm_rto, tcp_cong_control,
tcp_update_pacing_rate).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from harness.environments.sim.congestion import CongestionWindow
from harness.environments.sim.recovery import Next, Recovery, State
from harness.environments.sim.scoreboard import USUAL_REORDERING, Heard, Scoreboard
from harness.environments.sim.segment import milliseconds
from harness.environments.sim.send_buffer import SendBuffer
from harness.environments.sim.sender import Sender
from harness.environments.sim.timers import RTO_MAX_S, RTO_MIN_S, TAIL_PROBE_SLACK_S

if TYPE_CHECKING:
    from harness.environments.sim.segment import Segment
    from harness.environments.sim.sent import Sent
    from harness.environments.sim.socket import TcpSocket

_LARGEST_BATCH = 65_536
"""Bytes that the kernel hands to a network card at once, which cuts them into segments."""

_WAITS_WITHIN_S = 0.001
"""A sender waits for more acknowledgements only where it has sent something so lately."""


class PacedSender(Sender):
    __slots__ = (
        "_batch_end",
        "_board",
        "_buffer",
        "_made_until",
        "_probe_again",
        "_probed_until",
        "_recovery",
        "_sent_at",
        "_waiting",
        "_widest",
        "_window",
    )

    def __init__(self, socket: TcpSocket, edge: int) -> None:
        super().__init__(socket, edge)
        self.round_trip = copy(self.round_trip)
        self._window = CongestionWindow(socket.loop.now)
        self._board = Scoreboard(self._flight, socket.network.segment_size)
        self._recovery = Recovery(self._board, self._window)
        self._widest = 0
        self._batch_end = self._made_until = 0
        self._sent_at = socket.loop.now
        self._probed_until = 0
        self._probe_again = False
        self._waiting = False
        self._buffer = SendBuffer()

    @property
    def room(self) -> int:
        return self._buffer.room(self.queued, self.acknowledged + self.queued - self.next_seq, self._whole_batch())

    @property
    def writable(self) -> bool:
        return self._buffer.writable(self.queued)

    def write(self, data: bytes | memoryview) -> None:
        if not self._flight:
            now = self._socket.loop.now
            self._window.resume(now - self._sent_at, self.round_trip.timeout_s, now)
        if not self._unsent:
            self._batch_end = self._made_until = self.next_seq
        self._board.turn += 1
        super().write(data)

    def acknowledge(self, segment: Segment) -> bool:
        board, recovery, window = self._board, self._recovery, self._window
        opened = segment.edge > self._edge
        self._edge = max(self._edge, segment.edge)
        self._trouble_since = None
        if not self._flight and not segment.sacks:
            if opened or self._refused():
                self._backoff = 0
                self._deadline = None
                self._push()
            return False
        now, before = self._socket.loop.now, self.acknowledged
        delivered, lost = board.delivered, board.lost_ever
        heard = board.hear(segment, before, recovery.until, self._probed_until, self.round_trip, now)
        for sent in heard.acknowledged:
            self.queued -= len(sent.payload)
            self.fin_acked = self.fin_acked or sent.fin
        self.acknowledged = max(before, segment.ack)
        measured = self._measure_by(heard, segment)
        if self._probed_until:
            self._hear_of_probe(heard, segment)
        more = bool(self._unsent) and self.next_seq < self._edge
        then = recovery.hear(heard, segment, before, self.next_seq, self.round_trip, now, more=more)
        if recovery.state >= State.RECOVERY:
            self._probed_until = 0
        self._set_timer(heard, measured=measured)
        delivered = board.delivered - delivered
        if window.reducing:
            window.reduce(delivered, board.out, lost=board.lost_ever > lost, advanced=segment.ack > before)
        elif heard.acknowledged or (heard.selected and board.reordering > USUAL_REORDERING):
            window.acknowledged(delivered)
        if then is Next.NEW:
            self._push()
            if self.next_seq <= recovery.until:
                recovery.give_up_new()
                then = Next.LOST
        if then is Next.LOST:
            self._send_lost()
        self._push()
        if heard.acknowledged and self._socket.writer_waits and board.out < window.size:
            self._buffer.fit(window.size)
        return bool(heard.acknowledged)

    def _measure_by(self, heard: Heard, segment: Segment) -> bool:
        """Take the round trip of the first segment that has arrived; where it was sent again, of the copy that did."""
        now = self._socket.loop.now
        since = heard.selected_since if heard.since is None else heard.since
        if since is not None:
            sample_s = now - since
        elif heard.acknowledged and segment.echo:
            sample_s = max(milliseconds(now) - milliseconds(segment.echo), 1) / 1000
        else:
            return False
        self.round_trip.take(sample_s, self.acknowledged, self.next_seq)
        self._backoff = 0
        return True

    def _hear_of_probe(self, heard: Heard, segment: Segment) -> None:
        if segment.ack < self._probed_until:
            return
        if self._probe_again and not heard.probe_twice and segment.ack > self._probed_until:
            self._probed_until = 0
            self._recovery.probe_lost(self.next_seq)
        elif not self._probe_again or heard.probe_twice:
            self._probed_until = 0

    def _set_timer(self, heard: Heard, *, measured: bool) -> None:
        wait_s, flight = self._recovery.wait_s, self._flight
        if wait_s:
            self._waiting, self._probing_tail = True, False
            self._arm(wait_s + TAIL_PROBE_SLACK_S)
        elif heard.acknowledged:
            self._deadline = None
            if flight:
                self._arm_probe_or_retransmission()
        elif flight and measured and heard.selected_since is not None and heard.selected_since < flight[0].at:
            self._arm_probe_or_retransmission()

    def _push(self) -> None:
        """Send what may be sent now."""
        if self._socket.connecting:
            return
        sent = self._send_unsent()
        if self._fin_due():
            sent = self._send_new(b"", fin=True) or sent
        if sent:
            if self._recovery.state is State.ORDER:
                self._arm_probe(self._until_time_out_s())
        elif (self._unsent or self._fin_due()) and not self._flight and self._deadline is None:
            self._arm_retransmission()  # the window is closed, or the way out is: try until it opens

    def _send_new(self, payload: bytes, *, fin: bool = False) -> bool:
        alone = not self._flight
        if not super()._send_new(payload, fin=fin):
            return False
        self._board.note_sent(self._flight[-1])
        self._window.sent_meanwhile(1)
        if alone or self._probing_tail:
            self._arm_retransmission()
        return True

    def _send_again(self, sent: Sent) -> None:
        super()._send_again(sent)
        self._board.note_sent(sent)
        self._board.resent_ever += 1

    def _send_lost_one(self, sent: Sent) -> None:
        self._send_again(sent)
        self._recovery.sent_again(sent, sent.at)

    def _send_lost(self) -> None:
        """Send again what is lost, as much as the window allows."""
        board, window = self._board, self._window
        first = False
        for place, sent in enumerate(self._flight):
            if board.out >= window.size or board.resent >= board.lost:
                break
            if sent.lost and not sent.resent:
                self._send_lost_one(sent)
                window.sent_meanwhile(1)
                first = first or not place
        if first and not self._waiting:
            self._arm_retransmission()

    def _send_unsent(self) -> bool:
        window, board, flight = self._window, self._board, self._flight
        segment_size = self._socket.network.segment_size
        before, most = self.next_seq, self._largest_batch()
        limited = False
        while self._unsent and self.next_seq < self._edge and board.out < window.size:
            room = window.size - board.out
            quota = min(room, max(window.size >> 1, 1), most)
            batch = self._next_batch(quota * segment_size)
            if batch > segment_size and self._waits(room, batch, most):
                limited = room * segment_size <= min(batch, self._edge - self.next_seq - 1)
                break
            if not self._send_segments(min(quota, -(-batch // segment_size))):
                break
        sent = self.next_seq > before
        limited = limited or board.out >= window.size
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
        if not self._flight or now - self._sent_at > _WAITS_WITHIN_S or self._recovery.state >= State.RECOVERY:
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

    def _arm_probe_or_retransmission(self) -> None:
        """Something was acknowledged: probe the tail if nothing more is heard, or send again."""
        if self._recovery.state is State.ORDER:
            self._arm_probe(self._time_out_s())
        else:
            self._rearm_retransmission()

    def _arm_probe(self, latest_s: float) -> None:
        slack_s = RTO_MIN_S if len(self._flight) == 1 else TAIL_PROBE_SLACK_S
        delay_s = 2 * self.round_trip.smoothed_s + slack_s
        self._waiting, self._probing_tail = False, True
        self._arm(min(delay_s, latest_s) if latest_s > 0 else delay_s)

    def _arm_retransmission(self) -> None:
        self._waiting = self._probing_tail = False
        self._arm(self._time_out_s())

    def _rearm_retransmission(self) -> None:
        """From now, or where the timer was for something else, from when the first segment was sent."""
        if not (self._waiting or self._probing_tail):
            self._arm_retransmission()
            return
        self._waiting = self._probing_tail = False
        self._arm(max(self._until_time_out_s(), 0.0))

    def _time_out_s(self) -> float:
        time_out_s: float = min(self.round_trip.timeout_s * 2**self._backoff, RTO_MAX_S)
        return time_out_s

    def _until_time_out_s(self) -> float:
        return self._flight[0].at + self._time_out_s() - self._socket.loop.now

    def _expire(self) -> None:
        self._board.turn += 1
        if not self._waiting:
            super()._expire()
            return
        now = self._socket.loop.now
        if self._recovery.waited(self.acknowledged, self.next_seq, self.round_trip, now):
            self._probed_until = 0
            self._send_lost()
        if self._waiting:
            self._rearm_retransmission()

    def _probe_tail(self) -> None:
        if self._probed_until:
            self._rearm_retransmission()
            return
        if not self._unsent or self.next_seq >= self._edge:
            self._send_again(self._flight[-1])
            self._probe_again = True
        elif self._send_segments(1):
            self._sent_at = self._socket.loop.now
            self._probe_again = False
        else:
            self._rearm_retransmission()
            return
        self._probed_until = self.next_seq
        self._arm_retransmission()

    def _lose(self) -> None:
        now = self._socket.loop.now
        self._recovery.time_out(self.acknowledged, self.next_seq, now)
        self._probed_until = 0
        self._send_lost_one(self._flight[0])
