"""Quantiles of independent runs: an interval between two of the values seen, whatever their distribution."""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, inf, log

from harness.stats.binomial import at_least, at_most
from harness.stats.interval import Interval


def quantile_interval(lows: Sequence[float], highs: Sequence[float], q: float, *, chance: float) -> Interval:
    """Where the true `q`-quantile lies, but for at most this chance.

    Each run's value lies between its `lows` and its `highs`: the same for one that was measured, up to inf for one that
    had not ended. An end is infinite where there are too few runs.
    """
    runs = len(lows)
    below, above = sorted(lows), sorted(highs)
    first, last = _ranks(runs, q, chance)
    return Interval(below[first - 1] if first else -inf, above[last - 1] if last <= runs else inf)


@lru_cache(maxsize=1000)
def _ranks(runs: int, q: float, chance: float) -> tuple[int, int]:
    """Of the interval's ends, from 1; 0 and more than there are runs, where an end is infinite."""
    first = next((rank for rank in range(runs, 0, -1) if at_most(rank - 1, runs, q) <= chance / 2), 0)
    last = next((rank for rank in range(1, runs + 1) if at_least(rank, runs, q) <= chance / 2), runs + 1)
    return first, last


def runs_for_quantile(q: float, *, chance: float) -> int:
    """How many runs it takes until the interval has two ends."""
    return ceil(log(chance / 2) / log(max(q, 1 - q)))
