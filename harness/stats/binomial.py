"""Exact binomial tails, and what of shares and ranks follows from them. Sums of at most a few thousand terms."""

from math import exp, lgamma, log, log1p


def at_most(count: int, runs: int, share: float) -> float:
    """The chance that an event of this share happens `count` times or less in so many runs."""
    if count < 0:
        return 0.0
    if count >= runs:
        return 1.0
    # The shorter tail is summed: small chances keep their digits.
    if count > runs * share:
        return 1.0 - at_least(count + 1, runs, share)
    return _between(0, count, runs, share)


def at_least(count: int, runs: int, share: float) -> float:
    """The chance that it happens `count` times or more."""
    if count <= 0:
        return 1.0
    if count > runs:
        return 0.0
    if count < runs * share:
        return 1.0 - at_most(count - 1, runs, share)
    return _between(count, runs, runs, share)


def _between(first: int, last: int, runs: int, share: float) -> float:
    if share <= 0.0 or share >= 1.0:
        sure = 0 if share <= 0.0 else runs
        return float(first <= sure <= last)
    yes, no = log(share), log1p(-share)
    ways = lgamma(runs + 1)
    terms = (
        exp(ways - lgamma(k + 1) - lgamma(runs - k + 1) + k * yes + (runs - k) * no) for k in range(first, last + 1)
    )
    return min(1.0, sum(terms))
