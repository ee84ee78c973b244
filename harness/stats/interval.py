"""A confidence interval: the true value lies in it, except with a stated chance."""

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Interval:
    """`low` may be -inf and `high` inf: too few runs to say."""

    low: float = -inf
    high: float = inf

    def lies_outside(self, low: float | None, high: float | None) -> bool:
        """Whether it lies wholly below `low` or above `high`, None being no bound."""
        return (high is not None and self.low > high) or (low is not None and self.high < low)

    def max_distance(self, value: float) -> float:
        """How far it goes from `value` to the farther side."""
        return max(self.high - value, value - self.low)
