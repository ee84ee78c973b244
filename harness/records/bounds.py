"""How an expectation's bound reads, and how far measurements lie from it: one reading for the terminal and the page."""

from math import inf

LIMITS = ("at_most", "at_least")
"""Kinds that bound a measure on one side: on the other it may be anything."""


def bound_text(kind: str, formula: str, bound: str | None) -> str:
    """The bound as the scenario writes it. Records of older releases lack that: of these kind and formula."""
    return bound or f"{kind}: {formula}"


def farthest_off(
    kind: str, predicted: float | None, low: float | None, high: float | None, least: float, most: float
) -> float | None:
    """By how much the worst of measurements from `least` to `most` lies above what was predicted (below: negative).

    The worst of a limit is the one nearest to it, or farthest beyond. Within a range (`between`) nothing is off. None
    where there is no number to be off from.
    """
    if kind == "between" and low is not None and high is not None:
        above, below = max(0.0, most - high), min(0.0, least - low)
    elif predicted is None:
        return None
    else:
        above, below = most - predicted, least - predicted
    if kind in LIMITS:
        return above if kind == "at_most" else below
    return above if abs(above) >= abs(below) else below


def distance_rank(unit: str, off: float | None, bound: float | None) -> tuple[float, float]:
    """What sorts violations, the largest last: seconds beyond the bound; of what is no time, the part of the bound.

    What is violated without a number, as by another outcome than the expected one, is farthest off.
    """
    if off is None:
        return inf, inf
    return (abs(off) if unit == "s" else 0.0), abs(off) / (abs(bound or 0.0) or 1.0)
