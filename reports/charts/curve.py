"""The share of runs that work again, over the time since healing, when some were given up on (Kaplan and Meier).

A run that had not recovered when the lab stopped looking counts as not recovered until then, and for nothing after: so
the curve is right whatever the lab's patience was. The time axis is logarithmic: recoveries differ by factors.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts.svg import dots, label, number, path, picture

IMMEDIATE_S = 0.01
"""The axis' left end: a quicker recovery counts as immediate."""
HEIGHT = 100.0
STYLES = 6
END_APART = 12.0
"""The end of the axis has a label where it is so many per cent from the last round time: nearer, the two would overlap
on a telephone."""


@dataclass(frozen=True, slots=True)
class Curve:
    """`steps`: seconds, and the share recovered from then on. `censored_at_s`: when runs were given up on."""

    steps: tuple[tuple[float, float], ...]
    censored_at_s: tuple[float, ...]

    def time_of(self, share: float) -> float | None:
        """Seconds until that share has recovered; None where the runs do not say."""
        return next((seconds for seconds, reached in self.steps if reached >= share - 1e-9), None)

    def share_at(self, seconds: float) -> float:
        return max((reached for moment, reached in self.steps if moment <= seconds), default=0.0)


def curve_of(pairs: Iterable[tuple[float, bool]]) -> Curve:
    """From (seconds, unended) of each run. Source: Kaplan and Meier, Nonparametric Estimation from Incomplete
    Observations, 1958."""
    ordered = sorted(pairs)
    watched, unrecovered = len(ordered), 1.0
    steps: list[tuple[float, float]] = []
    censored_at_s: list[float] = []
    for moment in dict.fromkeys(seconds for seconds, _ in ordered):
        here = [unended for seconds, unended in ordered if seconds == moment]
        recovered = here.count(False)
        if recovered:
            unrecovered *= 1 - recovered / watched
            steps.append((moment, 1 - unrecovered))
        if recovered < len(here):
            censored_at_s.append(moment)
        watched -= len(here)
    return Curve(tuple(steps), tuple(censored_at_s))


@dataclass(frozen=True, slots=True)
class Curves:
    """Several curves on one axis up to `last_s`."""

    named: tuple[tuple[str, Curve], ...]
    last_s: float
    words: str

    def at(self, seconds: float) -> float:
        whole = math.log10(self.last_s / IMMEDIATE_S)
        return min(100.0, max(0.0, 100 * math.log10(max(seconds, IMMEDIATE_S) / IMMEDIATE_S) / whole))

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        first, last = round(math.log10(IMMEDIATE_S)), math.floor(math.log10(self.last_s) + 1e-9)
        round_ones = [10.0**power for power in range(first, last + 1)]
        with_end = [*round_ones, self.last_s] if 100 - self.at(round_ones[-1]) >= END_APART else round_ones
        return tuple((self.at(seconds), f"{seconds:g} s") for seconds in with_end)

    @property
    def svg(self) -> Markup:
        grid = "".join(f"M{number(at)} 0V{HEIGHT:g}" for at, _ in self.ticks)
        shapes = [path("grid", grid + "".join(f"M0 {y}H100" for y in (0, 25, 50, 75, 100)))]
        for place, (_, curve) in enumerate(self.named):
            shapes.append(path(f"curve k{place % STYLES}", self.line(curve)))
            shapes.append(
                path(
                    f"lost k{place % STYLES}",
                    dots((self.at(at), height_of(curve.share_at(at))) for at in curve.censored_at_s),
                )
            )
        labels = [label("tick-x", text, at) for at, text in self.ticks]
        return picture("curves", self.words, HEIGHT, shapes, labels)

    def line(self, curve: Curve) -> str:
        data = f"M0 {HEIGHT:g}"
        for seconds, share in curve.steps:
            data += f"H{number(self.at(seconds))}V{number(height_of(share))}"
        end = max(
            [self.last_s if curve.steps and curve.steps[-1][1] > 1 - 1e-9 else 0.0, *curve.censored_at_s], default=0.0
        )
        return data + f"H{number(self.at(end))}" if end else data


def height_of(share: float) -> float:
    return HEIGHT * (1 - share)


def axis_end_s(curves: Sequence[Curve]) -> float:
    """A round end for the axis of them all: 1, 2 or 5 times a power of ten."""
    last = max([2 * IMMEDIATE_S, *(at for one in curves for at in (*(s for s, _ in one.steps), *one.censored_at_s))])
    power = 10.0 ** math.floor(math.log10(last))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= last * 1.0001 or step == 10)
