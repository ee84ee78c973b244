"""The sending half of a connection: send buffer, what is in flight, and the timers that send it again.

What Linux does on loopback: everything that the peer's window allows goes out at once (on an ordinary network it keeps
to a congestion window, too: `PacedSender`); what stays unacknowledged is probed for (tail-loss probe), then sent again
with doubling waits, one segment at a time until the first acknowledgement; meanwhile nothing new is sent. What a rule
on the output hook refuses was never sent: it is tried again when the persist timer fires, with doubling waits, and
whenever a segment of the peer arrives.
Source: Linux net/ipv4/tcp_output.c, tcp_timer.c, tcp_input.c.
"""

from __future__ import annotations

from copy import copy
from errno import ETIMEDOUT
from typing import TYPE_CHECKING

from harness.environments.sim.round_trip import USUAL
from harness.environments.sim.segment import ACK, FIN
from harness.environments.sim.sent import Sent
from harness.environments.sim.timers import (
    GIVE_UP_S,
    ORPHAN_GIVE_UP_S,
    RTO_MAX_S,
    RTO_MIN_S,
    TAIL_PROBE_SLACK_S,
)

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer
    from harness.environments.sim.segment import Segment
    from harness.environments.sim.socket import TcpSocket

SEND_BUFFER = 3_900_000
"""Bytes that the kernel takes from the process before the peer has acknowledged any, on loopback."""

SEGMENT_SIZE = 65_483
"""Largest payload of a segment on loopback: its MTU of 65,536 less headers."""

ETHERNET_SEGMENT_SIZE = 1_448
"""The same on a network whose MTU is 1,500."""


class Sender:
    """`acknowledged` is the offset up to which the peer has everything; `fin_acked` that this includes the FIN.

    `next_seq` is the offset of what is sent next; `queued` counts the bytes that the peer has not acknowledged, sent or
    not. `round_trip` is what timers go by.
    """

    __slots__ = (
        "_backoff",
        "_deadline",
        "_edge",
        "_fin_queued",
        "_flight",
        "_lost_until",
        "_probing_tail",
        "_socket",
        "_tail_probed",
        "_timer",
        "_trouble_since",
        "_unsent",
        "acknowledged",
        "fin_acked",
        "next_seq",
        "queued",
        "round_trip",
    )

    def __init__(self, socket: TcpSocket, edge: int) -> None:
        self._socket = socket
        self._edge = edge
        self.acknowledged = 0
        self.fin_acked = False
        self.next_seq = 0
        self.queued = 0
        self.round_trip = USUAL
        self._unsent: list[bytes | memoryview] = []
        self._flight: list[Sent] = []
        self._fin_queued = False
        self._lost_until: int | None = None
        self._tail_probed = False
        self._probing_tail = False
        self._backoff = 0
        self._trouble_since: float | None = None
        self._timer: KernelTimer | None = None
        self._deadline: float | None = None

    @property
    def room(self) -> int:
        """Bytes that the send buffer still takes."""
        return SEND_BUFFER - self.queued

    @property
    def busy(self) -> bool:
        """Whether anything is on its way, or waits to be sent."""
        return bool(self._flight or self._unsent or self._fin_due())

    @property
    def sent_now(self) -> bool:
        """Whether something was sent at this moment, for the first time."""
        return bool(self._flight) and not self._flight[-1].again and self._flight[-1].at == self._socket.loop.now

    @property
    def writable(self) -> bool:
        """Whether a waiting writer is woken: a third of the buffer is free again."""
        return 3 * self.queued <= 2 * SEND_BUFFER

    def repeats(self, segment: Segment) -> bool:
        """Whether it acknowledges what was acknowledged, and no more room."""
        return segment.ack == self.acknowledged and segment.edge <= self._edge

    def open(self, edge: int) -> None:
        """The handshake is done: the peer can receive up to `edge`."""
        self._edge = edge
        self._push()

    def write(self, data: bytes | memoryview) -> None:
        """Queue at most `room` bytes and send what the peer's window allows."""
        self._unsent.append(data if len(data) <= self._socket.network.segment_size else memoryview(data))
        self.queued += len(data)
        self._push()

    def finish(self) -> None:
        """Send FIN after everything that is queued."""
        if not self._fin_queued:
            self._fin_queued = True
            self._push()

    def acknowledge(self, segment: Segment) -> bool:
        """Take an acknowledgement. True where it made room in the send buffer."""
        ack, edge = segment.ack, segment.edge
        opened = edge > self._edge
        self._edge = max(self._edge, edge)
        self._trouble_since = None
        if ack <= self.acknowledged:
            if segment.sacks and self._flight and self._lost_until is None:
                self._lose()
                self._arm_retransmission()
            elif opened or self._refused():
                self._backoff = 0
                if not self._flight:
                    self._deadline = None
                self._push()
            return False
        flight = self._flight
        if self._socket.network.delays and flight:
            self._measure(segment)
        while flight and flight[0].end <= ack:
            sent = flight.pop(0)
            self.queued -= len(sent.payload)
            self.fin_acked = self.fin_acked or sent.fin
        self.acknowledged = ack
        self._backoff = 0
        self._tail_probed = False
        self._deadline = None
        if self._lost_until is not None:
            if ack < self._lost_until:
                self._send_again(flight[0])
                self._arm_retransmission()
                return True
            self._lost_until = None
        self._push()
        if flight and self._deadline is None:
            self._arm_probe_or_retransmission()
        return True

    def dispose(self) -> None:
        """The connection is over: forget what is queued, stop the timer. Nothing is sent any more."""
        self._unsent.clear()
        self._flight.clear()
        self.queued = 0
        self._deadline = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        del self._socket  # or it and this hold each other

    def _measure(self, segment: Segment) -> None:
        """Take the round trip of the first segment that is acknowledged; where one was sent again, of the copy that
        arrived."""
        flight = self._flight
        echoed = any(sent.again for sent in flight if sent.end <= segment.ack)
        since = segment.echo if echoed else flight[0].at
        if since:
            self.round_trip = copy(self.round_trip)
            self.round_trip.take(self._socket.loop.now - since, segment.ack, self.next_seq)

    def _push(self) -> None:
        """Send what may be sent now."""
        if self._socket.connecting or self._lost_until is not None:
            return
        sent = self._send_unsent()
        if self._fin_due():
            sent = self._send_new(b"", fin=True) or sent
        if sent:
            self._arm_probe_or_retransmission()
        elif (self._unsent or self._fin_due()) and not self._flight and self._deadline is None:
            self._arm_retransmission()  # the window is closed, or the way out is: try until it opens

    def _send_unsent(self) -> bool:
        """Send what the peer has room for. Whether anything was sent."""
        sent = False
        largest = self._socket.network.segment_size
        while self._unsent and self.next_seq < self._edge:
            if not self._send_new(self._next_payload(min(largest, self._edge - self.next_seq))):
                break
            sent = True
        return sent

    def _lose(self) -> None:
        """The first segment in flight is missing while others behind it have arrived, or the retransmission timer has
        fired."""
        self._lost_until = self.next_seq
        self._send_again(self._flight[0])

    def _fin_due(self) -> bool:
        if not self._fin_queued or self._unsent:
            return False
        return not (self.fin_acked or (self._flight and self._flight[-1].fin))

    def _refused(self) -> bool:
        """Whether something that the peer's window has room for waits to be sent: it was refused on the way out."""
        if self._flight or not (self._unsent or self._fin_queued):
            return False
        return self.next_seq < self._edge if self._unsent else self._fin_due()

    def _next_payload(self, limit: int) -> bytes:
        """The next `limit` unsent bytes, or all of them."""
        unsent = self._unsent
        if len(unsent) == 1 and len(unsent[0]) <= limit:
            return bytes(unsent.pop(0))
        parts: list[bytes | memoryview] = []
        while unsent and limit:
            part = unsent.pop(0)
            if len(part) > limit:
                unsent.insert(0, part[limit:])
                part = part[:limit]
            parts.append(part)
            limit -= len(part)
        return b"".join(parts)

    def _send_new(self, payload: bytes, *, fin: bool = False) -> bool:
        """Send what follows what was sent. False where that was refused on the way out: it stays unsent."""
        if not self._socket.emit(ACK | FIN if fin else ACK, self.next_seq, payload):
            if payload:
                self._unsent.insert(0, payload)
            return False
        sent = Sent(self.next_seq, payload, self._socket.loop.now, fin=fin)
        self._flight.append(sent)
        self.next_seq = sent.end
        return True

    def _send_again(self, sent: Sent) -> None:
        sent.at = self._socket.loop.now
        sent.again = True
        self._socket.emit(ACK | FIN if sent.fin else ACK, sent.seq, sent.payload)

    def _arm_probe_or_retransmission(self) -> None:
        if self._lost_until is not None or self._tail_probed:
            self._arm_retransmission()
            return
        slack_s = RTO_MIN_S if len(self._flight) == 1 else TAIL_PROBE_SLACK_S
        until_rto_s = self._flight[0].at + self.round_trip.timeout_s - self._socket.loop.now
        self._probing_tail = True
        self._arm(max(0.0, min(2 * self.round_trip.smoothed_s + slack_s, until_rto_s)))

    def _arm_retransmission(self) -> None:
        self._probing_tail = False
        rto_s: float = min(self.round_trip.timeout_s * 2**self._backoff, RTO_MAX_S)
        if self._tail_probed and self._backoff == 0 and self._flight:
            rto_s = max(0.0, self._flight[0].at + rto_s - self._socket.loop.now)
        self._arm(rto_s)

    def _arm(self, delay_s: float) -> None:
        """One kernel timer a sender: moved forward lazily, since nearly every deadline is called off."""
        network, loop = self._socket.network, self._socket.loop
        self._deadline = network.wheel.fires_at(loop.now, delay_s)
        if self._timer is None:
            self._timer = loop.call_kernel_at(self._deadline, self._fired)
        elif self._timer.when > self._deadline:
            self._timer.cancel()
            self._timer = loop.call_kernel_at(self._deadline, self._fired)

    def _fired(self) -> None:
        self._timer = None
        loop = self._socket.loop
        if self._deadline is None:
            return
        if loop.now < self._deadline:
            self._timer = loop.call_kernel_at(self._deadline, self._fired)
            return
        self._deadline = None
        self._expire()

    def _expire(self) -> None:
        """The timer has fired."""
        if self._probing_tail:
            self._probe_tail()
        else:
            self._retransmit()

    def _probe_tail(self) -> None:
        self._tail_probed = True
        self._send_again(self._flight[-1])
        self._arm_retransmission()

    def _retransmit(self) -> None:
        now = self._socket.loop.now
        if self._trouble_since is None:
            self._trouble_since = now
        elif now - self._trouble_since >= (ORPHAN_GIVE_UP_S if self._socket.orphan else GIVE_UP_S):
            self._socket.fail(ETIMEDOUT)
            return
        if self._refused():
            self._backoff += 1
            self._push()
            if self._flight:
                self._backoff = 0
            return
        if self._flight:
            self._lose()
        else:
            self._socket.emit(ACK, self.next_seq - 1)
        self._backoff += 1
        self._arm_retransmission()
