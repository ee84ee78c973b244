"""What the peer has of what is on its way, by its selective acknowledgements, and what by them is lost.

A segment is lost where one that was sent later has arrived, and as long has passed since it was sent itself as that one
took, and a little more: a quarter of the shortest round trip, or nothing while no packet was seen to overtake another.
Each round trip in which something turns out to have been sent again in vain adds a quarter (RACK).

Source: Linux 6.12 net/ipv4/tcp_recovery.c (tcp_rack_detect_loss, tcp_rack_reo_wnd, tcp_rack_advance,
tcp_rack_update_reo_wnd), tcp_input.c (tcp_sacktag_one, tcp_clean_rtx_queue, tcp_check_dsack, tcp_dsack_seen,
tcp_check_sack_reordering), tcp_rate.c (tcp_rate_skb_delivered).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.environments.sim.segment import milliseconds
from harness.environments.sim.timers import DELAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.environments.sim.round_trip import RoundTrip
    from harness.environments.sim.segment import Block, Segment
    from harness.environments.sim.sent import Sent

USUAL_REORDERING = 3
"""So many segments behind a gap say that it is a loss, while none was seen to be overtaken (tcp_reordering)."""

_PROCESS_S = 2 * DELAY_S - 4e-6
"""What a round trip on loopback has of processes that wake up. The kernel's part of it is 4 us."""

_SHORTER_AFTER = 60
_SHORTER_S = 1e-6
"""After so many acknowledgements one has typically come sooner, by so much: then a quarter is no whole microsecond."""

_TURN_S = 2e-6
"""How long it takes the kernel at least to take an acknowledgement, a write or a timer."""

_MOST_REORDERING = 300
_MOST_QUARTERS = 255
_QUARTERS_KEPT = 16
"""How many recoveries without anything in vain it takes until a quarter is allowed for again."""


class Heard:
    """What one acknowledgement says: the segments it has `acknowledged`, whether it has `selected` more behind a gap,
    and whether one of either was an `original` that was on its way when the loss was found.

    `since` is when what the round trip is measured by was sent; None where that was sent again. `in_vain` has the ends
    of those that were sent again although they had arrived, `twice` counts all that did. `probe_twice`: the probe of
    the tail was one of them.
    """

    __slots__ = (
        "acknowledged",
        "delivered_then",
        "in_vain",
        "last",
        "original",
        "probe_twice",
        "selected",
        "selected_since",
        "since",
        "twice",
    )

    def __init__(self) -> None:
        self.acknowledged: list[Sent] = []
        self.in_vain: list[int] = []
        self.selected = self.original = self.probe_twice = False
        self.since: float | None = None
        self.selected_since: float | None = None
        self.twice = 0
        self.delivered_then = 0
        self.last = (0, 0)

    def note(self, sent: Sent, until: int) -> None:
        """One has arrived that was not known to have."""
        if (sent.turn, sent.end) > self.last:
            self.last = sent.turn, sent.end
            self.delivered_then = sent.delivered
        if not sent.again and sent.end <= until:
            self.original = True


class Scoreboard:
    """`sacked`, `lost` and `resent` count segments in flight: arrived behind a gap, lost, sent again and not heard of.

    `delivered` counts all that have ever arrived, `lost_ever` and `resent_ever` what was lost and sent again.
    `reordering`: by how many segments one was overtaken, three at least.
    """

    __slots__ = (
        "_changed",
        "_flight",
        "_highest",
        "_kept",
        "_last",
        "_last_trip_s",
        "_overtaken",
        "_quarters",
        "_segment_size",
        "_twice_ever",
        "_widen",
        "_widened",
        "delivered",
        "lost",
        "lost_ever",
        "reordering",
        "resent",
        "resent_ever",
        "sacked",
        "turn",
    )

    def __init__(self, flight: list[Sent], segment_size: int) -> None:
        self._flight = flight
        self._segment_size = segment_size
        self.sacked = self.lost = self.resent = 0
        self.lost_ever = self.resent_ever = self._twice_ever = 0
        self.delivered = 1  # the handshake
        self.reordering = USUAL_REORDERING
        self._overtaken = self._changed = self._widen = False
        self._highest = self._widened = self._kept = 0
        self._last = (0, 0)
        self._last_trip_s = 0.0
        self._quarters = 1
        self.turn = 0

    @property
    def out(self) -> int:
        """Segments that are in the network, as far as is known."""
        return len(self._flight) - self.sacked - self.lost + self.resent

    @property
    def any_again(self) -> bool:
        """Whether something that was sent again is not acknowledged yet, as far as the kernel looks."""
        return self.resent > 0 or bool(self._flight and self._flight[0].again)

    def hear(self, segment: Segment, acknowledged: int, until: int, probe: int, trip: RoundTrip, now_s: float) -> Heard:
        """Take an acknowledgement. `acknowledged` is the offset before it, `until` what was sent when the last loss was
        found, `probe` what was when the tail was probed."""
        self.turn += 1
        heard = Heard()
        reached = self._highest if self.sacked else acknowledged
        if segment.sacks:
            self._select(heard, segment, acknowledged, until, probe, trip, now_s)
        self._acknowledge(heard, segment, until, reached, trip, now_s)
        if heard.delivered_then:
            self._widen_if_due(heard.delivered_then)
        return heard

    def look_again(self) -> None:
        """The losses were none: look for them anew."""
        self._changed = True

    def find_losses(self, trip: RoundTrip, now_s: float, *, recovering: bool) -> float:
        """Mark what is lost if an acknowledgement has changed that. For how long others have to be waited for."""
        if not self._changed:
            return 0.0
        self._changed = False
        return self.mark_losses(trip, now_s, recovering=recovering)

    def mark_losses(self, trip: RoundTrip, now_s: float, *, recovering: bool) -> float:
        """Mark what is lost by now. For how long others have to be waited for."""
        wait_s = 0.0
        allowed_s = self._last_trip_s + self._allowance_s(trip, recovering=recovering)
        for sent in self._flight:
            if sent.sacked or (sent.lost and not sent.resent) or self._last <= (sent.turn, sent.end):
                continue
            left_s = allowed_s - (now_s - sent.at) - _TURN_S * (self._last[0] - sent.turn)
            if left_s <= 1e-9:
                self._lose(sent)
            else:
                wait_s = max(wait_s, left_s)
        return wait_s

    def lose_all(self, now_s: float) -> None:
        """The time-out is over: all but what was sent within the latest round trip is lost, and the first anyway."""
        for place, sent in enumerate(self._flight):
            if not sent.sacked and (place == 0 or self._last_trip_s - (now_s - sent.at) <= 0):
                self._lose(sent)

    def forget_losses(self) -> None:
        """Nothing is lost."""
        for sent in self._flight:
            sent.lost = False
        self.lost = 0

    def note_sent(self, sent: Sent) -> None:
        """It leaves now."""
        sent.turn, sent.delivered = self.turn, self.delivered

    def sent_again(self, sent: Sent) -> None:
        sent.resent = True
        self.resent += 1

    def recovered(self) -> None:
        """A recovery is over that was none in vain."""
        self._kept = max(self._kept - 1, 0)

    def recovered_in_vain(self) -> None:
        self._kept = min(self._kept + 1, _QUARTERS_KEPT)

    def overtook(self, low: int, acknowledged: int) -> None:
        """The segment at `low` has arrived behind later ones, sent once."""
        reached = self._highest if self.sacked else acknowledged
        if low < reached:
            self._overtaken = True
            self.reordering = min(max(self.reordering, -(-(reached - low) // self._segment_size)), _MOST_REORDERING)

    def expect_usual_reordering(self) -> None:
        """A time-out in disorder says that packets are not overtaken by that many."""
        if self.sacked >= USUAL_REORDERING:
            self.reordering = USUAL_REORDERING

    def _select(
        self, heard: Heard, segment: Segment, acknowledged: int, until: int, probe: int, trip: RoundTrip, now_s: float
    ) -> None:
        blocks, ack = segment.sacks, segment.ack
        twice = self._came_twice(heard, blocks, ack, acknowledged, probe)
        low = None
        if not self.sacked:
            self._highest = ack
        for sent in self._flight:
            repeated = twice is not None and sent.again and twice[0] <= sent.seq and sent.end <= twice[1]
            if repeated:
                if sent.end > acknowledged:
                    heard.in_vain.append(sent.end)
                if sent.sacked:
                    low = sent.seq if low is None else low
            if sent.end <= ack:
                continue
            if not sent.sacked and any(start <= sent.seq and sent.end <= end for start, end in blocks):
                self._reach(sent, trip, now_s)
                heard.note(sent, until)
                if not sent.again:
                    if sent.seq < self._highest:
                        low = sent.seq if low is None else low
                    if heard.selected_since is None:
                        heard.selected_since = sent.at
                if sent.lost:
                    sent.lost = False
                    self.lost -= 1
                    if sent.resent:
                        sent.resent = False
                        self.resent -= 1
                sent.sacked = heard.selected = True
                self.sacked += 1
                self.delivered += 1
                self._highest = max(self._highest, sent.end)
            if repeated and sent.resent:
                sent.resent = False
                self.resent -= 1
        if low is not None:
            self.overtook(low, ack)

    def _came_twice(
        self, heard: Heard, blocks: Sequence[Block], ack: int, acknowledged: int, probe: int
    ) -> Block | None:
        """What the first block says that came twice, where it says that."""
        start, end = blocks[0]
        if start >= ack and not (len(blocks) > 1 and blocks[1][0] <= start and end <= blocks[1][1]):
            return None
        self._twice_ever += 1
        if self._twice_ever > self.resent_ever:
            return None
        heard.twice = 1
        self.delivered += 1
        if probe == end:
            heard.probe_twice = True
        elif self._overtaken:
            self._widen = True
        if end <= acknowledged:
            heard.in_vain.append(end)
        return blocks[0]

    def _acknowledge(
        self, heard: Heard, segment: Segment, until: int, reached: int, trip: RoundTrip, now_s: float
    ) -> None:
        flight, ack = self._flight, segment.ack
        low = None
        any_again = False
        number = 0
        for sent in flight:
            if sent.end > ack:
                break
            number += 1
            if sent.again:
                any_again = True
                if sent.resent:
                    self.resent -= 1
            elif not sent.sacked:
                if heard.since is None:
                    heard.since = sent.at
                low = sent.seq if low is None else low
            if sent.sacked:
                self.sacked -= 1
            else:
                heard.note(sent, until)
                self.delivered += 1
                if not (sent.again and segment.echo and milliseconds(segment.echo) < milliseconds(sent.at)):
                    self._reach(sent, trip, now_s)
            if sent.lost:
                self.lost -= 1
        heard.acknowledged = flight[:number]
        del flight[:number]
        if any_again:
            heard.since = None
        if low is not None and low < reached:
            self.overtook(low, ack)

    def _reach(self, sent: Sent, trip: RoundTrip, now_s: float) -> None:
        """It has arrived. What came sooner than the shortest round trip allows is an earlier copy of it."""
        taken_s = now_s - sent.at
        if taken_s < trip.least_s - 1e-9 and sent.again:
            return
        self._changed = True
        self._last_trip_s = taken_s
        self._last = max(self._last, (sent.turn, sent.end))

    def _lose(self, sent: Sent) -> None:
        if not sent.lost:
            sent.lost = True
            self.lost += 1
        elif sent.resent:
            sent.resent = False
            self.resent -= 1
        else:
            return
        self.lost_ever += 1

    def _allowance_s(self, trip: RoundTrip, *, recovering: bool) -> float:
        if not self._overtaken and (recovering or self.sacked >= self.reordering):
            return 0.0
        least_s = trip.least_s - _PROCESS_S - (_SHORTER_S if self.turn > _SHORTER_AFTER else 0.0)
        quarter_us = round(least_s * 1e6) >> 2
        return min(quarter_us * self._quarters / 1e6, trip.smoothed_s)

    def _widen_if_due(self, delivered_then: int) -> None:
        """At most once a round trip."""
        if delivered_then < self._widened:
            self._widen = False
        if self._widen:
            self._widen = False
            self._quarters = min(self._quarters + 1, _MOST_QUARTERS)
            self._widened = self.delivered
            self._kept = _QUARTERS_KEPT
        elif not self._kept:
            self._quarters = 1
