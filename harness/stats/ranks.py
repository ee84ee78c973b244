"""Whether one sample lies above another, by the order of their values alone: Mann and Whitney's test, one-sided.

scipy's exact form has no ties, but times that did not end and counts are tied; over ties the same distribution is
summed here. scipy is imported where it is first used: a command that compares nothing need not wait for it.
"""

from collections.abc import Sequence
from math import comb

EXACT = 60
"""Above so many values on a side the normal approximation, corrected for ties, is good to all digits shown."""


def chance_above(reference: Sequence[float], values: Sequence[float]) -> float:
    """The chance that `values` lie so far above `reference`, or farther, if both come from one distribution.

    Raises ValueError where one side is empty.
    """
    if not reference or not values:
        raise ValueError("one sample is held against another: one is empty")
    large = max(len(reference), len(values)) > EXACT
    tied = len({*reference, *values}) < len(reference) + len(values)
    if tied and not large:
        return _chance_over_ties(reference, values)
    from scipy.stats import mannwhitneyu

    method = "asymptotic" if large else "exact"
    return float(mannwhitneyu(values, reference, alternative="greater", method=method).pvalue)


def _chance_over_ties(reference: Sequence[float], values: Sequence[float]) -> float:
    """The share of all ways to pick `len(values)` of the pooled values whose ranks add up to as much or more."""
    import numpy as np
    from scipy.stats import rankdata

    # Tied ranks are halves: doubled they are whole, and can number the places of a table.
    ranks = np.rint(2 * rankdata([*values, *reference])).astype(np.int64)
    picked, total = len(values), int(ranks.sum())
    ways = np.zeros((picked + 1, total + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    reached = int(ranks[:picked].sum())
    return min(1.0, float(ways[picked, reached:].sum()) / comb(len(ranks), picked))
