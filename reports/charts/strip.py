"""A strip: one row's runs around its prediction. All strips share one scale: the row's own tolerance.

The prediction stands in the middle, the tolerance reaches from 35 to 65 per cent of the width, so that a column of
strips can be read at a glance. What lies further out is an arrow at the edge, with the distance in words. A limit has
no band, since on one side of it a run may lie anywhere: it is a bracket, open to that side, in the middle of its own
scale.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from harness.records.bounds import LIMITS
from reports.charts.svg import box, bracket, dots, horizontal, label, path, picture, vertical
from reports.figures import difference

MIDDLE = 50.0
REACH = 15.0
"""Per cent of the width that one tolerance takes."""
EDGE = 4.0
"""Dots end here; what is further out is an arrow."""
MIN_TOLERANCE = {"s": 0.01, "count": 1.0}
"""Scale of an exact prediction: 10 ms, or one more or less."""
MERGE_WIDTH = 1.5
"""Runs closer to each other than so many per cent are one dot: a larger one."""
HEIGHT = 30


@dataclass(frozen=True, slots=True)
class Dot:
    """`count` runs at one place; `unended`: at least so far."""

    at: float
    unended: bool
    count: int = 1


@dataclass(frozen=True, slots=True)
class Strip:
    """`allowed` is where runs should lie (left, right): a band, around `tick` unless it is a range, or what lies up to
    a limit and reaches to an edge. `beyond_*` tell the farthest run outside the picture, in words."""

    tick: float | None
    allowed: tuple[float, float]
    dots: tuple[Dot, ...]
    beyond_left: str
    beyond_right: str
    unended_beyond: bool
    words: str

    @property
    def violations(self) -> "Strip":
        """What lies where it should not alone."""
        low, high = self.allowed
        return replace(
            self,
            dots=tuple(dot for dot in self.dots if not low <= dot.at <= high),
            beyond_left="" if low <= 0 else self.beyond_left,
            beyond_right="" if high >= 100 else self.beyond_right,
        )

    @property
    def svg(self) -> Markup:
        """The strip as markup."""
        sized = (
            path(
                f"dot n{size}",
                dots((dot.at, HEIGHT / 2) for dot in self.dots if not dot.unended and size_of(dot) == size),
            )
            for size in (1, 2, 3)
        )
        open_ended = self.tick is None and (self.allowed[0] <= 0 or self.allowed[1] >= 100)
        bound = [
            path("tick", bracket(*self.allowed, 5, HEIGHT - 5))
            if open_ended
            else path("band", box(*self.allowed, 5, HEIGHT - 5)),
            path("tick", vertical(self.tick, 3, HEIGHT - 3)) if self.tick is not None else "",
        ]
        labels = [label("unended", "\u25b7", dot.at) for dot in self.dots if dot.unended]
        if self.beyond_left:
            labels.append(label("beyond left", f"\u25c0 {self.beyond_left}"))
        if self.beyond_right:
            sign, least = ("\u25b7", "\u2265 ") if self.unended_beyond else ("\u25b6", "")
            labels.append(label("beyond right", f"{least}{self.beyond_right} {sign}"))
        shapes = [
            path("base", horizontal(0, 100, HEIGHT / 2)),
            *bound,
            *sized,
        ]
        return picture("strip", self.words, HEIGHT, shapes, labels)


def strip_of(row: Mapping[str, Any]) -> Strip | None:
    """The strip of a row of the expectations or claims table; None where nothing was predicted or measured."""
    kind, predicted, pairs = row.get("kind") or "equals", row["predicted"], row["pairs"] or []
    if kind == "between" and row["low"] is not None:
        predicted = (row["low"] + row["high"]) / 2
    if predicted is None or not pairs:
        return None
    low, high = (predicted if row[side] is None else row[side] for side in ("low", "high"))
    below, above = predicted - low, high - predicted
    scale = max(below, above) or MIN_TOLERANCE[row["unit"]]
    if kind in LIMITS:
        scale = max(scale, predicted * REACH / (MIDDLE - EDGE))
    places = [(MIDDLE + REACH * (pair["time"] - predicted) / scale, pair["unended"]) for pair in pairs]
    right = [pair for (at, _), pair in zip(places, pairs, strict=True) if at > 100 - EDGE]
    left = [pair for (at, _), pair in zip(places, pairs, strict=True) if at < EDGE]
    return Strip(
        tick=MIDDLE if kind in ("equals", "claim") else None,
        allowed=allowed_of(kind, REACH * below / scale, REACH * above / scale),
        dots=merge_dots(Dot(round(at, 2), unended) for at, unended in places if EDGE <= at <= 100 - EDGE),
        beyond_left=difference(min((p["time"] for p in left), default=predicted) - predicted, row["unit"])
        if left
        else "",
        beyond_right=difference(max((p["time"] for p in right), default=predicted) - predicted, row["unit"])
        if right
        else "",
        unended_beyond=any(pair["unended"] for pair in right),
        words=describe(pairs, row["low"], row["high"]),
    )


def merge_dots(seen: Iterable[Dot]) -> tuple[Dot, ...]:
    """Neighbours as one dot in their middle: a hundred runs stay a picture of a few bytes."""
    together: dict[tuple[int, bool], Counter[float]] = {}
    for dot in seen:
        together.setdefault((round(dot.at / MERGE_WIDTH), dot.unended), Counter())[dot.at] += dot.count
    return tuple(
        Dot(round(sum(at * count for at, count in own.items()) / own.total(), 2), unended, own.total())
        for (_, unended), own in sorted(together.items())
    )


def size_of(dot: Dot) -> int:
    return 1 if dot.count == 1 else 2 if dot.count < 6 else 3


def overview_of(strips: Sequence[Strip]) -> Strip | None:
    """All rows of a scenario in one strip, each in its own tolerance. Of those that are bound on one side alone only
    what misses the bound is drawn: on its other side a run lies anywhere."""
    if not strips:
        return None
    sides = {one.allowed[0] == 0.0 for one in strips}
    exact = len(sides) > 1 or any(one.tick is not None or 0.0 < one.allowed[0] < MIDDLE for one in strips)
    if exact:
        strips = [one if one.tick is not None else one.violations for one in strips]
    left, right = (sum(bool(getattr(one, f"beyond_{side}")) for one in strips) for side in ("left", "right"))
    farther = left + right
    return Strip(
        tick=MIDDLE if exact else None,
        allowed=(MIDDLE - REACH, MIDDLE + REACH) if exact else (0.0, MIDDLE) if True in sides else (MIDDLE, 100.0),
        dots=merge_dots(dot for one in strips for dot in one.dots),
        beyond_left=str(left) if left else "",
        beyond_right=str(right) if right else "",
        unended_beyond=any(one.unended_beyond for one in strips),
        words=f"{len(strips)} rows around their predictions" + (f", {farther} far from them" if farther else ""),
    )


def allowed_of(kind: str, below: float, above: float) -> tuple[float, float]:
    """Of a limit everything up to the edge is allowed; of its own scale zero is the other end of the picture."""
    return {"at_most": (0.0, MIDDLE + above), "at_least": (MIDDLE - below, 100.0)}.get(
        kind, (MIDDLE - below, MIDDLE + above)
    )


def describe(pairs: Sequence[Mapping[str, Any]], low: float | None, high: float | None) -> str:
    """The picture in words, for screen readers."""
    inside = sum((low is None or pair["time"] >= low) and (high is None or pair["time"] <= high) for pair in pairs)
    unended = sum(pair["unended"] for pair in pairs)
    ended = f", {unended} did not end" if unended else ""
    return f"{inside} of {len(pairs)} runs within the tolerance{ended}"
