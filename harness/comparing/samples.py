"""One measure over the runs of a case, with the runs in which it had not ended."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.records.run import MeasureRecord
from harness.stats import median

Unit = Literal["s", "count", "outcome"]
"""An `outcome` is a word: `ok`, or a class of error."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measure over the runs that have it, sorted. `censored` are the lower bounds of those that had not ended."""

    unit: Unit
    values: tuple[float, ...] = ()
    censored: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.values) + len(self.censored)

    def with_censored_as(self, censored_value: float) -> tuple[float, ...]:
        """All values, with `censored_value` for each that had not ended: above all others, and equal to one another."""
        return (*self.values, *(censored_value for _ in self.censored))

    @property
    def longest(self) -> float:
        return max((*self.values, *self.censored), default=0.0)

    @property
    def median(self) -> float:
        """The median, with the lower bound of each time that had not ended."""
        return median((*self.values, *self.censored))


def sample_of(unit: Unit, measures: Iterable[MeasureRecord], *, digits: int | None = None) -> Sample:
    """One measure of several runs. Values and bounds are rounded to `digits`, if given."""
    values: list[float] = []
    censored: list[float] = []
    for one in measures:
        if one.value is not None:
            values.append(one.value)
        elif one.censored_at is not None:
            censored.append(one.censored_at)
    if digits is not None:
        values, censored = ([round(value, digits) for value in part] for part in (values, censored))
    return Sample(unit, tuple(sorted(values)), tuple(sorted(censored)))
