"""A strip: one row's runs around its prediction. All strips share one scale: the row's own tolerance.

The prediction stands in the middle, the tolerance reaches from 35 to 65 per cent of the width, so that a column of
strips can be read at a glance. What lies further out is an arrow at the edge, with the distance in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.figures import difference

MIDDLE = 50.0
REACH = 15.0
"""Per cent of the width that one tolerance takes."""
EDGE = 4.0
"""Dots end here; what is further out is an arrow."""
LEAST_TOLERANCE = {"s": 0.01, "count": 1.0}
"""Scale of an exact prediction: 10 ms, or one more or less."""


@dataclass(frozen=True, slots=True)
class Dot:
    at: float
    unended: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """`band` is where runs should lie (left, right); `beyond_*` tell the farthest run outside the picture, in words."""

    tick: float | None
    band: tuple[float, float]
    dots: tuple[Dot, ...]
    beyond_left: str
    beyond_right: str
    unended_beyond: bool
    words: str


def strip_of(row: Mapping[str, Any]) -> Strip | None:
    """The strip of a row of the timeout or claims table; None where nothing was predicted or measured."""
    predicted, pairs = row["predicted"], row["pairs"] or []
    if predicted is None or not pairs:
        return None
    kind = row.get("kind") or "equals"
    low, high = (predicted if row[side] is None else row[side] for side in ("low", "high"))
    tolerance = max(high - predicted, predicted - low)
    scale = tolerance or LEAST_TOLERANCE[row["unit"]]
    if kind in ("at_most", "at_least"):
        scale = max(scale, predicted * REACH / (MIDDLE - EDGE))
    places = [(MIDDLE + REACH * (pair["time"] - predicted) / scale, pair["unended"]) for pair in pairs]
    seen = [Dot(round(at, 2), unended) for at, unended in places if EDGE <= at <= 100 - EDGE]
    right = [pair for (at, _), pair in zip(places, pairs, strict=True) if at > 100 - EDGE]
    left = [pair for (at, _), pair in zip(places, pairs, strict=True) if at < EDGE]
    return Strip(
        tick=MIDDLE if kind in ("equals", "claim") else None,
        band=band_of(kind, REACH * tolerance / scale),
        dots=tuple(seen),
        beyond_left=difference(min((p["time"] for p in left), default=predicted) - predicted, row["unit"])
        if left
        else "",
        beyond_right=difference(max((p["time"] for p in right), default=predicted) - predicted, row["unit"])
        if right
        else "",
        unended_beyond=any(pair["unended"] for pair in right),
        words=in_words(pairs, row["low"], row["high"]),
    )


def band_of(kind: str, width: float) -> tuple[float, float]:
    """A bound's band reaches to the edge; of its own scale zero is the other end of the picture."""
    return {"at_most": (0.0, MIDDLE + width), "at_least": (MIDDLE - width, 100.0)}.get(
        kind, (MIDDLE - width, MIDDLE + width)
    )


def in_words(pairs: Sequence[Mapping[str, Any]], low: float | None, high: float | None) -> str:
    """The picture for somebody who does not see it."""
    inside = sum((low is None or pair["time"] >= low) and (high is None or pair["time"] <= high) for pair in pairs)
    unended = sum(pair["unended"] for pair in pairs)
    ended = f", {unended} did not end" if unended else ""
    return f"{inside} of {len(pairs)} runs within the tolerance{ended}"
