"""One time axis: seconds to per cent of the width, and round ticks."""

import math
from dataclasses import dataclass

STEPS = (1.0, 2.0, 5.0)
TICKS = 6
"""About so many ticks: more would collide on a telephone."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From `start_s` to `end_s`; zero is the operation's call."""

    start_s: float
    end_s: float

    @classmethod
    def around(cls, first_s: float, last_s: float) -> "Axis":
        """With a little air on both sides."""
        air_s = 0.02 * max(last_s - first_s, 1e-3)
        return cls(first_s - air_s, last_s + air_s)

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def at(self, moment_s: float) -> float:
        """Per cent from the left edge, kept within the picture."""
        return round(min(100.0, max(0.0, 100 * (moment_s - self.start_s) / self.length_s)), 3)

    def share(self, seconds: float) -> float:
        return round(100 * seconds / self.length_s, 3)

    @property
    def step_s(self) -> float:
        rough = self.length_s / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        return next((step * power for step in STEPS if step * power >= rough), 10 * power)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """(per cent, label) at round times from zero on."""
        step = self.step_s
        count = math.floor(self.end_s / step + 1e-9)
        places = max(0, -math.floor(math.log10(step)))
        return tuple((self.at(index * step), f"{index * step:.{places}f}") for index in range(count + 1))
