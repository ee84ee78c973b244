"""The smallest effect that is worth an alarm. A smaller one is ignored, however certain it is."""

from dataclasses import dataclass

from harness.quantities import QuantityError, duration_text, tolerance

COUNT = 0.5
"""Counts have no noise: half a count is less than one more, and more than none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """`relative` of the baseline's median (0.05 is 5 %) and `absolute_s` add up."""

    relative: float
    absolute_s: float

    def of_time(self, median_s: float, timer_lag_s: float) -> float:
        """In seconds. `timer_lag_s` is how much later the lab's timers fired on one side than on the other: that
        part of a difference is not caused by the client."""
        return self.relative * abs(median_s) + self.absolute_s + timer_lag_s

    def of_count(self, median: float) -> float:
        return max(COUNT, self.relative * abs(median))

    def __str__(self) -> str:
        """As a user writes it: `5% + 20ms`."""
        return f"{self.relative * 100:g}% + {duration_text(self.absolute_s)}"


DEFAULT_FLOOR = Floor(relative=0.05, absolute_s=0.02)


def parse_floor(text: str) -> Floor:
    """Of `5% + 20ms`, `20ms` or `5%`. Raises QuantityError."""
    read = tolerance(text)
    if read.unit != "s" and read.absolute:
        raise QuantityError(f"`{text}`: a floor is one of times", "write its unit: 5% + 20ms")
    return Floor(relative=read.relative, absolute_s=read.absolute)
