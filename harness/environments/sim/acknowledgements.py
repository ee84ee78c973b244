"""When a socket acknowledges what has come: at once, with what it sends anyway, or 40 ms late.

More than one full segment is acknowledged at once, where that leaves the window as large as it was: else when the
process reads. What comes twice, too early, or last is acknowledged at once. A single segment is so while the connection
is young, or where its sender has paused, and a short one when the process has read it; but not in a dialogue: where the
process answers within 40 ms, acknowledgements wait for the answer, until one of them had to leave without.

Source: Linux 6.18 net/ipv4/tcp_input.c (__tcp_ack_snd_check, tcp_event_data_recv, tcp_enter_quickack_mode),
tcp_output.c (tcp_event_data_sent, tcp_send_delayed_ack), tcp.c (tcp_cleanup_rbuf), tcp_timer.c
(tcp_delack_timer_handler).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.environments.sim.segment import ACK, FIN

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer
    from harness.environments.sim.receiver import Receiver
    from harness.environments.sim.segment import Segment
    from harness.environments.sim.socket import TcpSocket

_DELAY_S = 0.04
"""How long the acknowledgement of a single segment waits for something to be sent with (TCP_DELACK_MIN)."""

_QUICK = 16
"""So many segments are acknowledged at once when data comes for the first time, or again after a time-out's pause."""


class Acknowledgements:
    """Of one connected socket."""

    __slots__ = (
        "_deadline",
        "_dialogue",
        "_quick",
        "_received_at",
        "_receiver",
        "_short",
        "_socket",
        "_timer",
    )

    def __init__(self, socket: TcpSocket, receiver: Receiver) -> None:
        self._socket = socket
        self._receiver = receiver
        self._quick = 0
        self._dialogue = False
        self._short = False
        self._received_at: float | None = None
        self._deadline: float | None = None
        self._timer: KernelTimer | None = None

    def hear(self, segment: Segment) -> bool:
        """A segment has come, with data or without. False where its timestamp is older than one that came in order: it
        is refused then, even if it fills a gap (RFC 7323, PAWS), unless it is an acknowledgement that changes nothing.
        """
        receiver, sender = self._receiver, self._socket.sender
        if not receiver.is_outdated(segment):
            receiver.hear(segment)
            return True
        if not (segment.payload or segment.flags & FIN):
            return segment.seq == receiver.next_seq and sender.repeats(segment)
        if segment.seq < receiver.next_seq:
            receiver.came_twice(segment)
            self._quick, self._dialogue = _QUICK, False
        self._socket.emit(ACK, sender.next_seq)
        return False

    def due(self, segment: Segment, *, new: bool) -> bool:
        """Whether a segment with data or FIN is acknowledged at once. `new`: the stream has grown by it."""
        receiver = self._receiver
        if not new and segment.seq < receiver.next_seq:
            self._quick, self._dialogue = _QUICK, False
        if not new or segment.flags & FIN:
            return True
        now, pause_from = self._socket.loop.now, self._received_at
        if pause_from is None or now - pause_from > self._socket.sender.round_trip.timeout_s:
            self._quick = _QUICK
        self._received_at = now
        self._short = self._short or len(segment.payload) < receiver.full
        if receiver.early or (self._quick and not self._dialogue):
            return True
        if self._unacknowledged > receiver.full and receiver.keeps_window():
            return True
        if self._deadline is None:
            self._arm()
        return False

    def due_after_read(self) -> bool:
        """Whether one that waits is sent since the process has read."""
        if self._deadline is None:
            return False
        drained = self._receiver.unread == 0
        return self._unacknowledged > self._receiver.full or (self._short and not self._dialogue and drained)

    def sent(self, *, data: bool) -> None:
        """A segment leaves, and an acknowledgement with it."""
        receiver = self._receiver
        if data and self._received_at is not None and self._socket.loop.now - self._received_at < _DELAY_S:
            self._dialogue = True
        if self._quick and receiver.next_seq > receiver.acknowledged:
            self._quick -= 1
        receiver.acknowledged = receiver.next_seq
        self._deadline = None
        self._short = False

    def dispose(self) -> None:
        """The connection is over."""
        self._deadline = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        del self._socket  # or it and this hold each other

    @property
    def _unacknowledged(self) -> int:
        return self._receiver.next_seq - self._receiver.acknowledged

    def _arm(self) -> None:
        """One kernel timer, moved forward lazily: nearly every deadline is called off."""
        loop = self._socket.loop
        self._deadline = self._socket.network.wheel.fires_at(loop.now, _DELAY_S)
        if self._timer is None:
            self._timer = loop.call_kernel_at(self._deadline, self._fired)

    def _fired(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        loop = self._socket.loop
        if loop.now < self._deadline:
            self._timer = loop.call_kernel_at(self._deadline, self._fired)
            return
        self._dialogue = False
        self._socket.emit(ACK, self._socket.sender.next_seq)
