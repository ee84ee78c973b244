"""The share of runs in which something holds: its exact interval, and how many runs a tolerance takes."""

from functools import lru_cache
from math import ceil, comb, floor, hypot, sqrt
from statistics import NormalDist

from harness.stats.binomial import at_least, at_most
from harness.stats.bisection import bisect_threshold
from harness.stats.interval import Interval

MOST_RUNS = 20_000
"""More runs are never asked for by number."""
IN_A_ROW = 25
"""Counts are whole: a number of runs may be enough by luck, and the next one not."""
_ROUNDING = 1e-9


@lru_cache(maxsize=4096)
def share_interval(held: int, runs: int, *, chance: float) -> Interval:
    """The shares that are compatible with `held` of `runs`: outside of it a true share lies with at most this chance.

    Clopper and Pearson's, exact for every share. Raises ValueError for no runs.
    """
    if not 0 <= held <= runs or runs < 1:
        raise ValueError(f"{held} of {runs} runs is no share")
    low = 0.0 if held == 0 else bisect_threshold(lambda share: at_least(held, runs, share) > chance / 2)
    high = 1.0 if held == runs else bisect_threshold(lambda share: at_most(held, runs, share) <= chance / 2)
    return Interval(low, high)


def share_difference_interval(held: int, runs: int, other_held: int, other_runs: int, *, chance: float) -> Interval:
    """By how much the other share can be larger: the true difference lies outside with about this chance, half an end.

    Newcombe's hybrid of two Wilson intervals: shorter than what two exact ones allow, and nearly as safe.
    Source: Newcombe, Interval estimation for the difference between independent proportions (1998), method 10.
    """
    one, other = held / runs, other_held / other_runs
    apart = other - one
    low, high = _wilson_interval(held, runs, chance)
    other_low, other_high = _wilson_interval(other_held, other_runs, chance)
    return Interval(apart - hypot(other - other_low, high - one), apart + hypot(other_high - other, one - low))


def _wilson_interval(held: int, runs: int, chance: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf(1 - chance / 2)
    share, weight = held / runs, z * z / runs
    middle = (share + weight / 2) / (1 + weight)
    half = z * sqrt(share * (1 - share) / runs + weight / (4 * runs)) / (1 + weight)
    return middle - half, middle + half


def equal_shares_p_value(held: int, runs: int, other_held: int, other_runs: int) -> float:
    """The chance of counts at least as unlikely as these, if both have one and the same share (Fisher's exact test)."""
    all_held, ways = held + other_held, comb(runs + other_runs, held + other_held)
    chances = [
        comb(runs, k) * comb(other_runs, all_held - k) / ways
        for k in range(max(0, all_held - other_runs), min(runs, all_held) + 1)
    ]
    seen = comb(runs, held) * comb(other_runs, other_held) / ways
    return min(1.0, sum(chance for chance in chances if chance <= seen * (1 + _ROUNDING)))


@lru_cache(maxsize=256)
def runs_for_share(share: float, low: float | None, high: float | None, *, chance: float) -> int | None:
    """How many runs it takes to tell a true `share` from one at either end of low..high.

    So many that a true `share` is seen outside with at most this chance, and that seeing just this share refutes both
    ends. None where it would take more than `MOST_RUNS`.
    """
    if (low is not None and share <= low) or (high is not None and share >= high):
        return None
    runs = 1
    while not _enough(runs, share, low, high, chance):
        runs *= 2
        if runs > MOST_RUNS:
            return None
    too_few, runs = runs // 2, runs
    while runs - too_few > 1:
        middle = (too_few + runs) // 2
        if _enough(middle, share, low, high, chance):
            runs = middle
        else:
            too_few = middle
    while True:
        luck = next((n for n in range(IN_A_ROW) if not _enough(runs + n, share, low, high, chance)), None)
        if luck is None:
            return runs
        runs += luck + 1


def _enough(runs: int, share: float, low: float | None, high: float | None, chance: float) -> bool:
    below = 0.0 if low is None else at_most(ceil(runs * low - _ROUNDING) - 1, runs, share)
    above = 0.0 if high is None else at_least(floor(runs * high + _ROUNDING) + 1, runs, share)
    if below + above > chance:
        return False
    refutes_low = low is None or low <= 0 or at_least(floor(runs * share + _ROUNDING), runs, low) <= chance / 2
    refutes_high = high is None or high >= 1 or at_most(ceil(runs * share - _ROUNDING), runs, high) <= chance / 2
    return refutes_low and refutes_high
