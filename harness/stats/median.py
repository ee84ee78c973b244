"""Medians, also of times of which some did not end while they were watched."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median as _median


def median(values: Iterable[float]) -> float:
    """The middle value, or the mean of the two in the middle. Raises ValueError where there is none."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values: there is no median")
    return float(_median(ordered))


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """A median, exact, or (`censored`) a lower bound of it."""

    value: float
    censored: bool


def censored_median(values: Iterable[float], bounds: Iterable[float]) -> Median:
    """The median of times of which some (`bounds`) are only known to be at least so long.

    It is the sample's own median, without any model: exact while every bound lies at or above it and the middle is made
    of values, since then it does not matter how long the others took. Otherwise putting each bound in its time's place
    gives a lower bound. Raises ValueError where there is neither value nor bound.
    """
    # At equal times the unended one is the longer one: it sorts later.
    ordered = sorted([(value, 0) for value in values] + [(bound, 1) for bound in bounds])
    if not ordered:
        raise ValueError("neither values nor bounds: there is no median")
    upper_middle = len(ordered) // 2
    middle = median(time for time, _ in ordered)
    return Median(value=middle, censored=any(unended for _, unended in ordered[: upper_middle + 1]))
