"""When the kernel's timers fire: retransmission schedules, limits, and the timer wheel's granularity.

Figures are those of Linux 6.18 with its default settings, HZ 250. Source: Linux net/ipv4/tcp_timer.c, tcp_output.c,
kernel/time/timer.c.
"""

from bisect import bisect_right
from random import Random

HZ = 250

DELAY_S = 30e-6
"""How long a segment takes from one socket to the other: Linux loopback."""

SYN_INTERVALS_S = (1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Waits before each SYN is sent again (tcp_syn_linear_timeouts = 4); after the last, ETIMEDOUT: 131 s in all."""

SYN_ACK_INTERVALS_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Waits before each SYN-ACK is sent again (tcp_synack_retries = 5); after the last, the request is forgotten."""

RTO_MIN_S = 0.2
RTO_MAX_S = 120.0
TAIL_PROBE_SLACK_S = 0.002
"""What a tail-loss probe adds to two round trips when several segments are out."""

GIVE_UP_S = 924.6
"""An open connection ends with ETIMEDOUT at the first retransmission this long after the first one
(tcp_retries2 = 15)."""

ORPHAN_GIVE_UP_S = 102.2
"""The same for a connection that its process has closed (tcp_orphan_retries: 8)."""

FIN_WAIT_2_S = 60.0
"""How long a closed connection whose FIN was acknowledged waits for the peer's."""


_LEVEL_REACHES = tuple(63 << 3 * level for level in range(20))
"""Jiffies from which on a timer sits above each level of the wheel, whose slots are eight times as wide each."""


def in_jiffies_s(seconds: float) -> float:
    """Rounded up to a whole jiffy."""
    return -int(-seconds * HZ // 1) / HZ


class TimerWheel:
    """The kernel's timer wheel: a timer never fires early, and late by up to one slot of the level that it sits on.

    The phase of the jiffy counter is drawn from the run's chance: on a real machine it is whatever it is.
    """

    def __init__(self, rng: Random) -> None:
        self._phase = rng.random() * 8**5

    def fires_at(self, now_s: float, delay_s: float) -> float:
        """When a timer of `delay_s` that is armed at `now_s` fires, on the same clock."""
        delay = -int(-delay_s * HZ // 1)
        shift = 3 * bisect_right(_LEVEL_REACHES, delay)
        expires = int(now_s * HZ + self._phase) + delay
        return ((((expires >> shift) + 1) << shift) - self._phase) / HZ
