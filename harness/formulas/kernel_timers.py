"""When the kernel retransmits what a blackholed link dropped: an operation under way recovers at such a moment.

Formulas call these: a request that was sent at the fault's beginning, in a link that is healed after `outage.lasts`,
arrives at `next_retransmission(outage.lasts)`. The figures are those of Linux on loopback at HZ 250: at other
frequencies they differ by less than 2 %. Source: Linux net/ipv4/tcp_timer.c, tcp_output.c, kernel/time/timer.c.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

JIFFY_S = 0.004
"""The kernel counts timers in ticks of 1/HZ, in seconds."""
RTO_JIFFIES = 51
"""The least retransmission time-out: 200 ms and a round trip of nearly nothing."""
LONGEST_RTO_JIFFIES = 30_000
"""120 s."""
SYN_JIFFIES = tuple(250 * seconds for seconds in (1, 1, 1, 1, 1, 2, 4, 8, 16, 32))
"""Waits before each SYN is sent again, on kernels from 6.5 (tcp_syn_linear_timeouts = 4)."""
RETRANSMISSIONS = 17
"""One probe of the tail, and 15 retries with a last wait (tcp_retries2)."""
MARGIN_S = 0.02
"""The longest time that the lab's own steps take. Healing nearer to a retransmission may be on either side of it."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A moment that a kernel timer decides: `at_s` at the earliest, `late_s` later at the latest."""

    at_s: float
    late_s: float


def next_retransmission_s(outage_s: float) -> Timer:
    """When a small request that was sent into a blackholed link is first sent again after `outage_s`.

    Both in seconds since the request; one segment is out: it is sent again after RTO as a probe, then with doubling
    waits. Raises ValueError where the moment of healing is too near to one of these to say which it is.
    """
    waits = [RTO_JIFFIES, *(min(RTO_JIFFIES << n, LONGEST_RTO_JIFFIES) for n in range(RETRANSMISSIONS - 1))]
    return _next(_moments(waits), outage_s, "retransmission")


def next_syn_s(outage_s: float) -> Timer:
    """When a dial that was begun in a blackholed link sends its first SYN after `outage_s`.

    Both in seconds since the dial. Raises ValueError as next_retransmission_s does.
    """
    return _next(_moments(SYN_JIFFIES), outage_s, "SYN")


def next_persist_probe_s(outage_s: float) -> Timer:
    """When a small request that was refused where it was sent is tried again, for the first time after `outage_s`.

    Both in seconds since the request, which the kernel has not sent: its persist timer tries it after RTO, then with
    doubling waits. Only where the peer has all its acknowledgements: its own retransmissions make the kernel try at
    once. Raises ValueError as next_retransmission_s does.
    """
    waits = [min(RTO_JIFFIES << n, LONGEST_RTO_JIFFIES) for n in range(RETRANSMISSIONS - 1)]
    return _next(_moments(waits), outage_s, "try")


KERNEL_FUNCTIONS: dict[str, Callable[..., Timer]] = {
    "next_persist_probe": next_persist_probe_s,
    "next_retransmission": next_retransmission_s,
    "next_syn": next_syn_s,
}
"""By the names that formulas know."""


def _moments(waits: Sequence[int]) -> list[Timer]:
    """A timer never fires early, and late by up to one slot of the wheel's level that it sits on; that adds up."""
    ends = accumulate(waits)
    late = accumulate(_slot(wait) for wait in waits)
    return [Timer(end * JIFFY_S, by * JIFFY_S) for end, by in zip(ends, late, strict=True)]


def _slot(jiffies: int) -> int:
    """The granularity, in jiffies, of the level of the timer wheel that a timer of this length sits on."""
    slot, reach = 1, 63
    while jiffies >= reach:
        slot, reach = slot << 3, reach << 3
    return slot


def _next(moments: Sequence[Timer], outage_s: float, what: str) -> Timer:
    for moment in moments:
        if outage_s < moment.at_s - MARGIN_S:
            return moment
        if outage_s <= moment.at_s + moment.late_s + MARGIN_S:
            latest_s = moment.at_s + moment.late_s
            raise ValueError(
                f"a {what} comes {moment.at_s:.3f} s to {latest_s:.3f} s after the first one, too near to"
                f" {outage_s:.3f} s to say which comes first"
            )
    raise ValueError(f"the kernel has given up before {outage_s:.0f} s")
