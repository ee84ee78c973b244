"""Comparing two shares, and correcting for many tests: scipy behind narrow, typed functions."""

from collections.abc import Sequence
from math import comb


def fisher_p_value(before: int, of_before: int, now: int, of_now: int) -> float:
    """The chance that so many of the later runs, or more, show what `before` of the earlier ones did, if nothing
    changed: Fisher's exact test, one-sided. Raises ValueError for no runs."""
    if of_before < 1 or of_now < 1:
        raise ValueError("a share of no runs cannot be compared")
    from scipy.stats import hypergeom

    return float(hypergeom.sf(now - 1, of_before + of_now, before + now, of_now))


def false_discovery_rates(chances: Sequence[float]) -> tuple[float, ...]:
    """For each test, the share of false ones among all that are taken for true at its chance (Benjamini and Hochberg
    1995). Where nothing changed anywhere, some rate falls to r with at most the chance r."""
    if not chances:
        return ()
    from scipy.stats import false_discovery_control

    return tuple(float(rate) for rate in false_discovery_control(chances, method="bh"))


def min_runs_per_side(chance: float) -> int:
    """How many runs a side it takes until the clearest order of all has at most this chance."""
    runs = 1
    while comb(2 * runs, runs) * chance < 1:
        runs += 1
    return runs
