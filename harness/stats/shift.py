"""By how much one sample lies above another: the exact rank interval of a shift, whatever the distribution is.

Source: Hodges and Lehmann, Estimates of location based on rank tests (1963); the interval is the set of shifts that
Mann and Whitney's test does not refuse.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, comb, inf, sqrt
from statistics import NormalDist

from harness.stats.interval import Interval
from harness.stats.median import median

EXACT = 60
"""Above so many values on each side the normal approximation is used: its tail is the heavier one."""


def shift(reference: Sequence[float], values: Sequence[float]) -> float:
    """The median of all differences between a value and a reference value: robust against single strays.

    Raises ValueError where one side is empty.
    """
    return median(_differences(reference, values))


def shift_interval(reference: Sequence[float], values: Sequence[float], *, chance: float) -> Interval:
    """The shifts of `values` above `reference` that are compatible with both samples.

    Outside of it the true shift lies with at most this chance. Without an end where there are too few values. Assumes
    that one distribution is the other one, shifted.
    """
    differences = _differences(reference, values)
    refused = _refused(len(reference), len(values), chance / 2)
    if refused == 0:
        return Interval(-inf, inf)
    return Interval(differences[refused - 1], differences[-refused])


def _differences(reference: Sequence[float], values: Sequence[float]) -> list[float]:
    if not reference or not values:
        raise ValueError("a shift is one between two samples: one is empty")
    return sorted(value - other for value in values for other in reference)


@lru_cache(maxsize=256)
def _refused(first: int, second: int, chance: float) -> int:
    """How many of the differences at either end are refused: the most, n, for which P(U < n) is at most `chance`."""
    if min(first, second) > EXACT:
        mean, deviation = first * second / 2, sqrt(first * second * (first + second + 1) / 12)
        return max(0, ceil(mean - 0.5 - NormalDist().inv_cdf(1 - chance) * deviation) - 1)
    allowed = chance * comb(first + second, first)
    seen = 0
    for rank, ways in enumerate(_ways(first, second)):
        seen += ways
        if seen > allowed:
            return rank
    return 0


@lru_cache(maxsize=256)
def _ways(first: int, second: int) -> tuple[int, ...]:
    """In how many orders of both samples U is 0, 1, 2, ...: the coefficients of Gauss' binomial."""
    size = first * second + 1
    ways = [1] + [0] * (size - 1)
    for k in range(1, first + 1):
        for rank in range(size - 1, second + k - 1, -1):
            ways[rank] -= ways[rank - second - k]
        for rank in range(k, size):
            ways[rank] += ways[rank - k]
    return tuple(ways)
