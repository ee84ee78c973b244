"""What formulas need beside arithmetic: sums over attempts, the chances of a shuffled address list and of metadata that
comes in time, and when a Dialer asks for a partition again.

Source: segmentio/kafka-go v0.4.8 dialer.go (backoff, LookupPartition), transport.go (connGroup.connect, discover).
"""

from collections.abc import Callable
from math import ceil, comb

from client.profiles.kafka_go.config import backoff_bounds_s
from client.profiles.kafka_go.dialer import backoff_s
from client.settings import Settings


def backoff_sum_s(attempts: float, settings: Settings) -> float:
    """The pauses of a batch that is tried so often."""
    least_s, most_s = backoff_bounds_s(settings)
    return sum(min(number * number * least_s, most_s) for number in range(1, int(attempts)))


def stale_tries_share(number: float, settings: Settings) -> float:
    """The chance that exactly so many tries of a batch begin before its pool asks for metadata again, or all of them.

    It asks after a uniform share of the MetadataTTL, again and again, and the first try may be anywhere between.
    """

    def refreshed_share(attempt: float) -> float:
        waited = min(1.0, backoff_sum_s(attempt, settings) / settings.seconds("Transport.MetadataTTL"))
        return waited * (2 - waited)

    last = number >= settings.count("Writer.MaxAttempts")
    return (1.0 if last else refreshed_share(number + 1)) - refreshed_share(number)


def walk_failure_share(dead: float, live: float, settings: Settings) -> float:
    """The share of walks over a list with so many dead and so many live addresses that end without a connection."""
    tried = _affordable_dials(settings) + 1
    if live == 0:
        return 1.0
    return comb(int(dead), tried) / comb(int(dead + live), tried) if tried <= dead else 0.0


def walk_delay_share(number: float, dead: float, live: float, settings: Settings) -> float:
    """The share of walks that meet a live address after exactly so many dead ones, in time."""
    before, n = int(number), int(dead + live)
    if live == 0 or before > min(dead, _affordable_dials(settings)):
        return 0.0
    share = live / (n - before)
    for met in range(before):
        share *= (dead - met) / (n - met)
    return share


def next_look_up_s(after_s: float) -> float:
    """The first moment after `after_s` at which a look-up asks again, if every answer comes at once."""
    at_s, attempt = 0.0, 0
    while at_s <= after_s:
        attempt += 1
        at_s += backoff_s(attempt)
    return at_s


def _affordable_dials(settings: Settings) -> int:
    """How many dead addresses may come before a live one under the deadline of the walk; a dial without a limit of its
    own takes all of it."""
    if settings.seconds("NetDialer.Timeout") <= 0:
        return 0
    return ceil(settings.seconds("Transport.DialTimeout") / settings.seconds("NetDialer.Timeout")) - 1


FUNCTIONS: dict[str, Callable[..., float]] = {
    "backoff_sum": backoff_sum_s,
    "stale_tries_share": stale_tries_share,
    "walk_failure_share": walk_failure_share,
    "walk_delay_share": walk_delay_share,
    "next_look_up": next_look_up_s,
}
"""By the names that formulas call them."""
