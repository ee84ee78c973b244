"""Bisection of the unit interval down to the precision of a double."""

from collections.abc import Callable

STEPS = 60


def bisect_threshold(reached: Callable[[float], bool]) -> float:
    """The least share, to the last digit, from which on `reached` is true; near 1 where it never is."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return (low + high) / 2
