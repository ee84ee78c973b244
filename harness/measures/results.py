"""What measuring gives: a value, a lower bound, or the reason for neither."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """It was measured: seconds, or a count. `wire`: it was seen on the wire, because the client's trace has none of
    it."""

    value: float
    wire: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Censored:
    """It had not ended when the lab stopped looking: it is at least this."""

    at_least: float
    wire: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Missing:
    """There is nothing to measure; `reason` is a clause that messages print."""

    reason: str


MeasureResult = MeasuredValue | Censored | Missing
