"""What a connection knows of its path's round trip, and the retransmission time-out that follows from it.

RFC 6298 as Linux has it: in whole microseconds, with a floor under the variance. A held dial is the first sample: the
time-out is three times its length until data has been acknowledged. Source: Linux net/ipv4/tcp_input.c
(tcp_rtt_estimator), include/net/tcp.h (__tcp_set_rto).
"""

from harness.environments.sim.timers import DELAY_S, RTO_MAX_S, RTO_MIN_S, in_jiffies_s

_FLOOR_US = round(RTO_MIN_S * 1e6)


class RoundTrip:
    """`smoothed_s` is the smoothed round trip, `least_s` the shortest one, `timeout_s` the retransmission time-out
    before any back-off."""

    __slots__ = (
        "_highest_us",
        "_mean_us",
        "_until",
        "_variance_us",
        "_varied_us",
        "least_s",
        "smoothed_s",
        "timeout_s",
    )

    def __init__(self, sample_s: float, next_seq: int = 0) -> None:
        """The first sample; `next_seq` is what the connection sends next."""
        sample_us = round(sample_s * 1e6)
        self._mean_us = sample_us << 3  # eight times the mean
        self._varied_us = sample_us << 1  # four times the mean deviation
        self._variance_us = self._highest_us = max(self._varied_us, _FLOOR_US)
        self._until = next_seq
        self.least_s = sample_s
        self._set()

    def take(self, sample_s: float, acknowledged: int, next_seq: int) -> None:
        """A further sample, from the acknowledgement of everything up to `acknowledged`."""
        self.least_s = min(self.least_s, sample_s)
        error_us = round(sample_s * 1e6) - (self._mean_us >> 3)
        self._mean_us = max(1, self._mean_us + error_us)
        change_us = abs(error_us) - (self._varied_us >> 2)
        if error_us < 0 < change_us:
            change_us >>= 3  # a path that got faster is no path that varies
        self._varied_us += change_us
        if self._varied_us > self._highest_us:
            self._highest_us = self._varied_us
            self._variance_us = max(self._variance_us, self._highest_us)
        if acknowledged > self._until:  # once a round trip
            if self._highest_us < self._variance_us:
                self._variance_us -= (self._variance_us - self._highest_us) >> 2
            self._until = next_seq
            self._highest_us = _FLOOR_US
        self._set()

    def _set(self) -> None:
        mean_us = self._mean_us >> 3
        self.smoothed_s = mean_us / 1e6
        self.timeout_s = min(in_jiffies_s((mean_us + self._variance_us) / 1e6), RTO_MAX_S)


USUAL = RoundTrip(2 * DELAY_S)
"""That of every connection until it has measured another one. Nobody changes it."""
