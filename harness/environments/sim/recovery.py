"""What a sender on an ordinary network makes of losses: when it sends again, how much, and when all that was in vain.

In order: nothing is missing; in disorder something is, but may be late; in recovery it is taken for lost, and the
window is reduced once; after a time-out everything is. Where timestamps or what came twice show that nothing was lost,
the window is as before (undo).

Source: Linux 6.12 net/ipv4/tcp_input.c (tcp_fastretrans_alert, tcp_process_loss, tcp_enter_loss, tcp_enter_recovery,
tcp_try_undo_recovery, tcp_try_undo_partial, tcp_try_undo_dsack, tcp_try_undo_loss, tcp_packet_delayed).
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING

from harness.environments.sim.segment import milliseconds

if TYPE_CHECKING:
    from harness.environments.sim.congestion import CongestionWindow
    from harness.environments.sim.round_trip import RoundTrip
    from harness.environments.sim.scoreboard import Heard, Scoreboard
    from harness.environments.sim.segment import Segment
    from harness.environments.sim.sent import Sent


class State(IntEnum):
    ORDER = 0
    DISORDER = 1
    RECOVERY = 2
    TIMED_OUT = 3


class Next(Enum):
    """What an acknowledgement makes a sender send first."""

    NOTHING = 0
    LOST = 1
    NEW = 2


class Recovery:
    """`until` is what was sent when the state began. `wait_s`: for how long what may be late is waited for, as the
    latest acknowledgement has it."""

    __slots__ = (
        "_board",
        "_first_again_ms",
        "_maybe_late",
        "_time_outs",
        "_undo_from",
        "_undo_left",
        "_window",
        "state",
        "until",
        "wait_s",
    )

    def __init__(self, board: Scoreboard, window: CongestionWindow) -> None:
        self._board = board
        self._window = window
        self.state = State.ORDER
        self.until = 0
        self.wait_s = 0.0
        self._first_again_ms: int | None = None
        self._undo_from: int | None = None
        self._undo_left: int | None = None
        self._time_outs = 0
        self._maybe_late = False

    def hear(
        self,
        heard: Heard,
        segment: Segment,
        before: int,
        next_seq: int,
        trip: RoundTrip,
        now_s: float,
        *,
        more: bool,
    ) -> Next:
        """An acknowledgement has come: what to send first. `before` is what was acknowledged before it; `more`: there
        is something new to be sent."""
        self.wait_s = 0.0
        advanced = segment.ack > before
        if advanced:
            self._time_outs = 0
        if self._undo_from is not None and self._undo_left is not None and self._undo_left > 0:
            in_vain = sum(end > self._undo_from for end in heard.in_vain)
            self._undo_left = max(0, self._undo_left - in_vain)
        acknowledged = max(segment.ack, before)
        then = Next.NOTHING
        if self.state is State.ORDER:
            if not (heard.selected or heard.twice):
                return then
            self._first_again_ms = None
        elif self.state is State.RECOVERY and acknowledged >= self.until:
            self._undo_whole(segment)
            self._window.end_reduction(undone=self._undo_from is None)
        if self.state is State.RECOVERY:
            if advanced and self._is_late_part(segment, before, next_seq):
                return then
            if self._undo_by_twice():
                self._settle(next_seq)
            self._find_losses(trip, now_s)
            if self.state is not State.RECOVERY:
                if not self._board.lost:
                    return then
                self._enter(acknowledged, next_seq)
            return Next.LOST
        if self.state is State.TIMED_OUT:
            then = self._hear_after_time_out(heard, segment, acknowledged, next_seq, advanced=advanced, more=more)
            resent = self._board.resent
            self._find_losses(trip, now_s)
            if State(self.state) is not State.ORDER and resent <= self._board.resent:
                return then
        if self.state <= State.DISORDER:
            self._undo_by_twice()
        self._find_losses(trip, now_s)
        if not self._board.lost:
            self._settle(next_seq)
            return then
        self._enter(acknowledged, next_seq)
        return Next.LOST

    def waited(self, acknowledged: int, next_seq: int, trip: RoundTrip, now_s: float) -> bool:
        """Those that were waited for have had their time. Whether something is to be sent again."""
        board = self._board
        out, lost = board.out, board.lost_ever
        board.mark_losses(trip, now_s, recovering=self.state >= State.RECOVERY)
        if board.out == out:
            return False
        if self.state is not State.RECOVERY:
            self._enter(acknowledged, next_seq)
            self._window.reduce(1, board.out, lost=board.lost_ever > lost, advanced=False)
        return True

    def time_out(self, acknowledged: int, next_seq: int, now_s: float) -> None:
        """The retransmission time-out is over."""
        anew = self.state < State.RECOVERY
        self._board.lose_all(now_s)
        if anew or acknowledged >= self.until or (self.state is State.TIMED_OUT and not self._time_outs):
            self._window.lose_all()
            self._begin_undo(acknowledged)
        self._window.time_out(self._board.out)
        if self.state <= State.DISORDER:
            self._board.expect_usual_reordering()
        self._maybe_late = anew or self._time_outs > 0
        self._time_outs += 1
        self._change(State.TIMED_OUT, next_seq)

    def probe_lost(self, next_seq: int) -> None:
        """A probe of the tail has filled a gap: that was a loss, made up for."""
        self._window.begin_reduction()
        self._window.end_reduction(undone=False)
        self.until = next_seq
        self._settle(next_seq)

    def sent_again(self, sent: Sent, now_s: float) -> None:
        self._board.sent_again(sent)
        if self._first_again_ms is None:
            self._first_again_ms = milliseconds(now_s)
        self._undo_left = (self._undo_left or 0) + 1

    def give_up_new(self) -> None:
        """Nothing new could be sent that would tell a late segment from a lost one."""
        self._maybe_late = False

    def _hear_after_time_out(
        self, heard: Heard, segment: Segment, acknowledged: int, next_seq: int, *, advanced: bool, more: bool
    ) -> Next:
        over = acknowledged >= self.until
        if advanced and self._may_undo(segment):
            self._undo_time_out()
            return Next.NOTHING
        if self._maybe_late:
            if heard.original:
                self._undo_time_out()
                return Next.NOTHING
            if next_seq > self.until:
                if heard.selected:
                    self._maybe_late = False
            elif advanced and not over:
                self.until = next_seq
                if more:
                    return Next.NEW
                self._maybe_late = False
        if over:
            self._undo_whole(segment)
            return Next.NOTHING
        return Next.LOST

    def _find_losses(self, trip: RoundTrip, now_s: float) -> None:
        wait_s = self._board.find_losses(trip, now_s, recovering=self.state >= State.RECOVERY)
        self.wait_s = wait_s or self.wait_s

    def _enter(self, acknowledged: int, next_seq: int) -> None:
        if not self._board.any_again:
            self._first_again_ms = None
        self._begin_undo(acknowledged)
        self._window.begin_reduction()
        self._change(State.RECOVERY, next_seq)

    def _change(self, state: State, next_seq: int) -> None:
        self.state = state
        self.until = next_seq
        self._window.settled = state is State.ORDER

    def _settle(self, next_seq: int) -> None:
        """Nothing is lost: in order, or in disorder while something has not arrived."""
        board = self._board
        if not board.any_again:
            self._first_again_ms = None
        state = State.DISORDER if board.sacked or board.lost or board.any_again else State.ORDER
        if state is not self.state:
            self._change(state, next_seq)

    def _begin_undo(self, acknowledged: int) -> None:
        self._undo_from = acknowledged
        self._undo_left = self._board.resent or None

    def _is_late(self, segment: Segment) -> bool:
        """Whether what is acknowledged was sent before anything was sent again."""
        if self._first_again_ms is None:
            return True
        return bool(segment.echo) and milliseconds(segment.echo) < self._first_again_ms

    def _may_undo(self, segment: Segment) -> bool:
        return self._undo_from is not None and (self._undo_left == 0 or self._is_late(segment))

    def _undo(self, *, nothing_lost: bool) -> None:
        if nothing_lost:
            self._board.forget_losses()
        self._window.undo()
        self._undo_from = None
        self._board.look_again()

    def _undo_whole(self, segment: Segment) -> None:
        if self._may_undo(segment):
            self._undo(nothing_lost=False)
        else:
            self._board.recovered()
        self.state = State.ORDER
        self._window.settled = True

    def _undo_time_out(self) -> None:
        self._undo(nothing_lost=True)
        self._time_outs = 0
        self.state = State.ORDER
        self._window.settled = True

    def _undo_by_twice(self) -> bool:
        if self._undo_from is None or self._undo_left != 0:
            return False
        self._board.recovered_in_vain()
        self._undo(nothing_lost=False)
        return True

    def _is_late_part(self, segment: Segment, before: int, next_seq: int) -> bool:
        """Whether a gap was filled by what was late while something is on its way again: then only new data is sent."""
        if self._undo_from is None or not self._is_late(segment):
            return False
        self._board.overtook(before, segment.ack)
        if self._board.resent:
            return True
        if not self._board.any_again:
            self._first_again_ms = None
        self._undo(nothing_lost=True)
        self._settle(next_seq)
        return False
