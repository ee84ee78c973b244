"""Percentiles by the nearest rank: always a value of the sample, never one between two."""

from collections.abc import Iterable
from math import ceil


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value such that at least `share` (0 < share <= 1) of all values are no larger.

    Below 1 / (1 - share) values it is the largest one: p99 of 50 values is their maximum. Raises ValueError where
    there is no value, or no such share.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values: there is no percentile")
    if not 0 < share <= 1:
        raise ValueError(f"a share lies above 0 and at most at 1: {share}")
    # 0.07 * 100 is 7.000000000000001 in binary: without the rounding its rank would be 8.
    return ordered[ceil(round(share * len(ordered), 9)) - 1]


def p99(values: Iterable[float]) -> float:
    """The 99th percentile by the nearest rank."""
    return percentile(values, 0.99)
