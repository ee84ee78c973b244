"""How often each lateness was seen: bars on a logarithmic axis, each a factor of about 1.8 wide."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts.svg import box, label, number, path, picture
from reports.figures import short

PER_TEN = 4
"""Bars per factor of ten."""
MIN_S, MAX_S = 1e-5, 10.0
HEIGHT = 60.0


@dataclass(frozen=True, slots=True)
class Histogram:
    """`bars` are (from, to, count) in seconds."""

    bars: tuple[tuple[float, float, int], ...]
    first: int
    last: int
    words: str

    def at(self, seconds: float) -> float:
        return 100 * (math.log10(seconds) * PER_TEN - self.first) / (self.last - self.first)

    @property
    def svg(self) -> Markup:
        highest = max(count for _, _, count in self.bars)
        shapes = [
            path("bars", box(self.at(low) + 0.3, self.at(high) - 0.3, HEIGHT * (1 - count / highest), HEIGHT))
            for low, high, count in self.bars
        ]
        powers = range(math.ceil(self.first / PER_TEN), self.last // PER_TEN + 1)
        grid = "".join(f"M{number(self.at(10.0**power))} 0V{HEIGHT:g}" for power in powers)
        labels = [
            label("tick-x", short(10.0**power) if power > -3 else f"{10.0 ** (power + 3):g} ms", self.at(10.0**power))
            for power in powers
        ]
        return picture("histogram", self.words, HEIGHT, [path("grid", grid), *shapes], labels)


def histogram_of(seconds: Sequence[float]) -> Histogram | None:
    """None for no figures."""
    kept = [math.floor(math.log10(min(MAX_S, max(MIN_S, one))) * PER_TEN) for one in seconds]
    if not kept:
        return None
    counts = sorted(Counter(kept).items())
    first, last = math.floor(counts[0][0] / PER_TEN) * PER_TEN, math.ceil((counts[-1][0] + 1) / PER_TEN) * PER_TEN
    bars = tuple((10 ** (bar / PER_TEN), 10 ** ((bar + 1) / PER_TEN), count) for bar, count in counts)
    words = "; ".join(f"{count} from {short(low)} to {short(high)}" for low, high, count in bars)
    return Histogram(bars, first, last, f"Lateness of timers, runs: {words}")
