"""Whether one sample lies above another, by the order of their values alone: Mann and Whitney's test, one-sided.

scipy's exact form has no ties, but times that did not end and counts are tied; over ties the same distribution is
summed here. scipy is imported where it is first used: a command that compares nothing need not wait for it.
"""

from collections.abc import Sequence
from math import comb

EXACT = 7_200
"""Up to so many values of the smaller sample times values of both every order is counted: 60 against 60, 20 against
340. Above it the normal approximation, corrected for ties, will do. Of few values against many it would not: it takes
the clearest order of 5 and 100 for one a thousand times likelier than it is."""


def mann_whitney_p_value(reference: Sequence[float], values: Sequence[float]) -> float:
    """The chance that `values` lie so far above `reference`, or farther, if both come from one distribution.

    Raises ValueError where one side is empty.
    """
    if not reference or not values:
        raise ValueError("two samples are compared: one is empty")
    both = len(reference) + len(values)
    large = min(len(reference), len(values)) * both > EXACT
    if not large and len({*reference, *values}) < both:
        return _p_value_with_ties(reference, values)
    from scipy.stats import mannwhitneyu

    method = "asymptotic" if large else "exact"
    return float(mannwhitneyu(values, reference, alternative="greater", method=method).pvalue)


def _p_value_with_ties(reference: Sequence[float], values: Sequence[float]) -> float:
    """The share of all ways to pick `len(values)` of the pooled values whose ranks add up to as much or more."""
    import numpy as np
    from scipy.stats import rankdata

    # Tied ranks are halves: doubled they are whole, and can number the places of a table.
    ranks = np.rint(2 * rankdata([*values, *reference])).astype(np.int64)
    # High ranks of the one sample are low ranks of the other: the smaller one is picked, in a smaller table.
    fewer = ranks[: len(values)] if len(values) <= len(reference) else ranks[len(values) :]
    picked, reached = len(fewer), int(fewer.sum())
    most = int(np.sort(ranks)[-picked:].sum())
    ways = np.zeros((picked + 1, most + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank].copy()
    tail = ways[picked, reached:] if len(values) <= len(reference) else ways[picked, : reached + 1]
    return min(1.0, float(tail.sum()) / comb(len(ranks), picked))
