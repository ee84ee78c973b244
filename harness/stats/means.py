"""The mean of values that lie between two bounds: an interval that holds for every distribution between them.

Without bounds there is none: a rare large value that no run has shown may carry the mean (Bahadur and Savage 1956).
Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (2023), section 4.
"""

from collections.abc import Sequence
from math import log, log1p, sqrt

from harness.stats.bisection import bisect_threshold
from harness.stats.interval import Interval

STAKE = 0.75
"""A bet never risks more than this part of what was won: a single value cannot ruin it."""


def mean_interval(values: Sequence[float], low: float, high: float, *, chance: float) -> Interval:
    """The means that are compatible with independent values between `low` and `high`.

    Outside of it the true mean lies with at most this chance, however the values are distributed: against each mean a
    gambler bets on values above it, another below it; where one of them has grown rich, the mean is refuted (a fair
    game makes nobody 1/chance times as rich with more than this chance). Raises ValueError for values outside.
    """
    if not high > low:
        raise ValueError(f"no value lies between {low} and {high}")
    if any(not low <= value <= high for value in values):
        raise ValueError(f"a value lies outside of {low} to {high}")
    scaled = [(value - low) / (high - low) for value in values]
    stakes = _stakes(len(scaled), scaled, chance)
    lowest = bisect_threshold(lambda mean: not _wealth_reached(scaled, stakes, mean, chance))
    mirrored = [1.0 - value for value in scaled]
    highest = 1.0 - bisect_threshold(lambda mean: not _wealth_reached(mirrored, stakes, mean, chance))
    return Interval(low + lowest * (high - low), low + highest * (high - low))


def _stakes(runs: int, values: Sequence[float], chance: float) -> list[float]:
    """How much is bet on each value, by the spread of those before it: the less they spread, the more."""
    stakes: list[float] = []
    total, squares = 0.5, 0.25
    for seen, value in enumerate(values, start=1):
        stakes.append(sqrt(2 * log(2 / chance) * seen / (squares * max(runs, 1))))
        total += value
        squares += (value - total / (seen + 1)) ** 2
    return stakes


def _wealth_reached(values: Sequence[float], stakes: Sequence[float], mean: float, chance: float) -> bool:
    """Whether betting on values above `mean` has multiplied the stake by 2/chance, at any time."""
    goal, won = log(2 / chance), 0.0
    most = STAKE / mean if mean > 0 else float("inf")
    for value, stake in zip(values, stakes, strict=True):
        won += log1p(min(stake, most) * (value - mean))
        if won >= goal:
            return True
    return False
