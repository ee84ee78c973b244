"""An estimate with its interval beside the bounds of its prediction; each row has its own axis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.records.bounds import LIMITS
from reports.charts.svg import box, bracket, dots, horizontal, path, picture, vertical
from reports.figures import amount

HEIGHT = 30
PADDING = 0.25
"""Of the axis' length, left free on each side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChart:
    """Places are per cent of the width; None: there is no such end, or no such figure. `allowed` is where the estimate
    should lie: a band around `tick`, or up to a limit, where `tick` is None. `span` is where the true value lies."""

    tick: float | None
    allowed: tuple[float, float]
    span: tuple[float, float] | None
    estimate: float | None
    words: str

    @property
    def svg(self) -> Markup:
        middle = HEIGHT / 2
        shapes = [path("base", horizontal(0, 100, middle))]
        if self.tick is None:
            shapes.append(path("tick", bracket(*self.allowed, 5, HEIGHT - 5)))
        else:
            shapes.append(path("band", box(*self.allowed, 5, HEIGHT - 5)))
            shapes.append(path("tick", vertical(self.tick, 3, HEIGHT - 3)))
        if self.span is not None:
            shapes.append(path("span", horizontal(*self.span, middle)))
        if self.estimate is not None:
            shapes.append(path("dot n3", dots([(self.estimate, middle)])))
        return picture("strip", self.words, HEIGHT, shapes)


def interval_chart(row: Mapping[str, Any]) -> IntervalChart | None:
    """The picture of a row of the groups table; None where nothing was predicted or measured."""
    if row["predicted"] is None or row["estimate"] is None:
        return None
    figures = [row[name] for name in ("predicted", "estimate", "low", "high", "interval_low", "interval_high")]
    known = [float(one) for one in figures if one is not None]
    first, last = min(known), max(known)
    length = (last - first) or abs(last) or 1.0
    start, length = first - PADDING * length, length * (1 + 2 * PADDING)

    def at(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else round(100 * (value - start) / length, 2)

    has_span = row["interval_low"] is not None or row["interval_high"] is not None
    exact = row["kind"] not in LIMITS
    return IntervalChart(
        tick=at(row["predicted"], 0) if exact else None,
        allowed=(
            at(row["low"], at(row["predicted"], 0) if exact or row["kind"] == "at_least" else 0.0),
            at(row["high"], at(row["predicted"], 0) if exact or row["kind"] == "at_most" else 100.0),
        ),
        span=(at(row["interval_low"], 0.0), at(row["interval_high"], 100.0)) if has_span else None,
        estimate=at(row["estimate"], 0),
        words=describe(row),
    )


def describe(row: Mapping[str, Any]) -> str:
    low, high = row["interval_low"], row["interval_high"]
    between = f", the true value from {amount(low, row['unit'])} to {amount(high, row['unit'])}"
    return f"estimate {amount(row['estimate'], row['unit'])}{between if low is not None and high is not None else ''}"
