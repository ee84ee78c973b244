"""What measuring gives: a value, a word, a lower bound, or the reason for none of them."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """It was measured: seconds, or a count. `wire`: it was seen on the wire, because the client's trace has none of
    it."""

    value: float
    wire: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """It is one of the measure's words."""

    text: str


@dataclass(frozen=True, slots=True)
class Censored:
    """It had not ended when the lab stopped looking: it is at least this."""

    at_least: float
    wire: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Missing:
    """There is nothing to measure; `reason` is a clause that messages print."""

    reason: str


@dataclass(frozen=True, slots=True)
class WrongOutcome(Missing):
    """The operation ended the other way: it failed where its acknowledgement is timed, or succeeded where its error is.

    An expectation of that time did not hold.
    """

    outcome: str


MeasureResult = MeasuredValue | MeasuredText | Censored | Missing
