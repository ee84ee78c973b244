"""How an expectation's bound reads, and how far measurements lie from it: one reading for the terminal and the page."""

LIMITS = ("at_most", "at_least")
"""Kinds that bound a measure on one side: on the other it may be anything."""


def bound_text(kind: str, formula: str, bound: str | None) -> str:
    """The bound as the scenario writes it. Records of older releases lack that: of these kind and formula."""
    return bound or f"{kind}: {formula}"


def farthest_off(kind: str, predicted: float, least: float, most: float) -> float:
    """By how much the worst of measurements from `least` to `most` lies above `predicted` (below: negative).

    The worst of a limit is the one nearest to it, or farthest beyond.
    """
    above, below = most - predicted, least - predicted
    if kind in LIMITS:
        return above if kind == "at_most" else below
    return above if abs(above) >= abs(below) else below


def distance_rank(unit: str, off: float, predicted: float) -> tuple[float, float]:
    """What sorts violations, the largest last: seconds beyond the bound; of what is no time, the part of the bound."""
    return (abs(off) if unit == "s" else 0.0), abs(off) / (abs(predicted) or 1.0)
