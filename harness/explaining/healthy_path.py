"""What a client needs time for where nothing is wrong: no limit of it should be shorter than that."""

from collections.abc import Sequence
from dataclasses import dataclass

from client.settings import HealthyWait

ROUND_TRIP_S, BROKER_S, PAUSE_S = 0.05, 0.25, 0.5
"""By default: another zone's round trip, a broker that waits for its followers' acknowledgements, and a pause as a
garbage collection or one lost segment makes it (the kernel sends a segment again after 0.2 s at the earliest)."""
SYN_SENT_AGAIN_S = 1.0
"""When the kernel sends a lost SYN again. Source: Linux net/ipv4/tcp.h (TCP_TIMEOUT_INIT)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthyPath:
    """`broker_s` is a broker's own time for a request, `pause_s` an allowance for whoever stands still for a moment."""

    round_trip_s: float = ROUND_TRIP_S
    broker_s: float = BROKER_S
    pause_s: float = PAUSE_S

    def least_s(self, limits: Sequence[HealthyWait]) -> float:
        """The shortest that a limit of these waits should be; 0 for a limit of none."""
        if not limits:
            return 0.0
        return len(limits) * self.round_trip_s + ("answer" in limits) * self.broker_s + self.pause_s

    def survives_lost_syn(self, dial_limit_s: float) -> bool:
        """Whether a dial with this limit gets through where its first SYN is lost."""
        return dial_limit_s >= SYN_SENT_AGAIN_S + self.round_trip_s
