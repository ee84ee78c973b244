"""How many segments a connection has on their way at once: the congestion window of TCP Reno, as Linux keeps it.

It starts at ten segments. Each one that is acknowledged adds one, up to the threshold that a loss or a pause has left;
from there on a round trip adds one. It grows only while it is what holds the sender back, and after a pause it is
halved for each retransmission time-out that the pause had. A time-out brings it down to one segment, other losses to
half while what was on its way arrives (RFC 6937); where it turns out that nothing was lost, that is taken back.

Source: Linux 6.18 net/ipv4/tcp_cong.c (tcp_slow_start, tcp_cong_avoid_ai, tcp_reno_ssthresh), tcp_output.c
(tcp_cwnd_restart, tcp_cwnd_validate, tcp_cwnd_application_limited), tcp_input.c (tcp_enter_loss,
tcp_init_cwnd_reduction, tcp_cwnd_reduction, tcp_undo_cwnd_reduction), include/net/tcp.h
(tcp_is_cwnd_limited, tcp_current_ssthresh).
"""

INITIAL = 10
"""Segments on a new connection (RFC 6928), and at least after a pause."""

_UNKNOWN = 2**31 - 1
"""The threshold of a path on which nothing has been lost yet."""


class CongestionWindow:
    """`size` in segments; `threshold` is where slow start ends. `reducing`: it comes down after a loss; `settled`: all
    arrives in order."""

    __slots__ = (
        "_arrived",
        "_credit",
        "_limited",
        "_most_out",
        "_prior",
        "_resent",
        "_round_ends",
        "_used",
        "_used_since_s",
        "reducing",
        "settled",
        "size",
        "threshold",
    )

    def __init__(self, now_s: float) -> None:
        self.size = INITIAL
        self.threshold = _UNKNOWN
        self._credit = 0
        self.reducing = False
        self.settled = True
        self._prior: tuple[int, int] | None = None
        self._arrived = self._resent = 0
        self._limited = False
        self._most_out = 0
        self._round_ends = 0
        self._used = 0
        self._used_since_s = now_s

    @property
    def in_slow_start(self) -> bool:
        return self.size < self.threshold

    def resume(self, paused_s: float, timeout_s: float, now_s: float) -> None:
        """Nothing is on its way and nothing was sent for so long: the path may have changed since
        (tcp_slow_start_after_idle)."""
        if paused_s <= timeout_s:
            return
        self.threshold = self._kept_threshold()
        least = min(INITIAL, self.size)
        left_s = paused_s - timeout_s
        while left_s > 0 and self.size > least:
            self.size >>= 1
            left_s -= timeout_s
        self.size = max(self.size, least)
        self._used, self._used_since_s = 0, now_s

    def sent(
        self, out: int, acknowledged: int, next_seq: int, *, limited: bool, timeout_s: float, now_s: float
    ) -> None:
        """`out` segments are on their way after the sender has sent what it may; `limited`: the window held it back.

        A window that was not used for a time-out comes halfway down to what was.
        """
        if acknowledged >= self._round_ends or limited or (not self._limited and out > self._most_out):
            self._limited, self._most_out, self._round_ends = limited, out, next_seq
        if self._is_used():
            self._used, self._used_since_s = 0, now_s
            return
        self._used = max(self._used, out)
        if now_s - self._used_since_s >= timeout_s and self.settled:
            used = max(self._used, INITIAL)
            if used < self.size:
                self.threshold = self._kept_threshold()
                self.size = (self.size + used) >> 1
            self._used, self._used_since_s = 0, now_s

    def acknowledged(self, segments: int) -> None:
        """So many more have arrived."""
        if not self._is_used():
            return
        if self.in_slow_start:
            grown = min(self.size + segments, self.threshold)
            segments -= grown - self.size
            self.size = grown
        if segments:
            if self._credit >= self.size:
                self._credit = 0
                self.size += 1
            self._credit += segments
            more, self._credit = divmod(self._credit, self.size)
            self.size += more

    def begin_reduction(self) -> None:
        """Something was lost: the window comes down to half while what is on its way arrives."""
        self.lose_all()
        self._arrived = self._resent = 0
        self.reducing = True

    def reduce(self, arrived: int, out: int, *, lost: bool, advanced: bool) -> None:
        """So many segments have arrived, and `out` are on their way; `lost`: more were lost; `advanced`: the first gap
        was filled. What may be sent brings the window down evenly, or is as many as have arrived."""
        if arrived <= 0 or self._prior is None:
            return
        self._arrived += arrived
        short = self.threshold - out
        if short < 0:
            may_send = -(-self.threshold * self._arrived // self._prior[0]) - self._resent
        else:
            may_send = min(short, max(self._arrived - self._resent, arrived) + (advanced and not lost))
        self.size = out + max(may_send, 0 if self._resent else 1)

    def sent_meanwhile(self, segments: int) -> None:
        """So many were sent, again or new."""
        if self.reducing:
            self._resent += segments

    def end_reduction(self, *, undone: bool) -> None:
        """All that was on its way at the loss has arrived."""
        self.reducing = False
        if not undone:
            self.size = self.threshold

    def lose_all(self) -> None:
        """What was on its way is lost, for the first time."""
        self._prior = self.size, self._kept_threshold()
        self.threshold = max(self.size >> 1, 2)
        self._credit = 0

    def time_out(self, out: int) -> None:
        """One more than is still on its way may be sent."""
        self.size = out + 1
        self._credit = 0
        self.reducing = False

    def undo(self) -> None:
        """Nothing was lost, it was late."""
        self.reducing = False
        if self._prior is not None:
            size, threshold = self._prior
            self.size = max(self.size, size)
            self.threshold = max(self.threshold, threshold)

    def _is_used(self) -> bool:
        """Slow start may double what is used, no more."""
        return self._limited or (self.in_slow_start and self.size < 2 * self._most_out)

    def _kept_threshold(self) -> int:
        return self.threshold if self.reducing else max(self.threshold, (self.size >> 1) + (self.size >> 2))
