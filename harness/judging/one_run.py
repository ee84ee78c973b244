"""Judges one expectation by one measurement, without regard to faults, noise or other expectations."""

from dataclasses import dataclass, field
from typing import Any

from harness.formulas.allowed import allowed_range
from harness.formulas.evaluate import Formula, evaluate_condition
from harness.formulas.scope import Scope
from harness.measures import (
    MEASURES,
    Censored,
    MeasuredText,
    MeasuredValue,
    MeasureName,
    MeasureResult,
    Missing,
    RunView,
    WrongOutcome,
    parse,
    take,
)
from harness.plan import Expectation
from harness.records.run import ExpectationResult, Term

_ROUNDING = 1e-9
"""A sum of binary fractions may miss its own bound by this share."""


def judge_expectation(run: RunView, scope: Scope, expectation: Expectation) -> ExpectationResult:
    """Judge an expectation by its measurement alone. `scope` is what formulas of this plan may name.

    A censored measurement decides where its lower bound already does: beyond the upper bound it failed, at the lower
    bound of `at_least` it held.
    """
    wanted: _ExpectedRange | ExpectationResult | None = scope.known.get(expectation)
    if wanted is None:
        wanted = scope.known[expectation] = _expected_range(scope, expectation)
    if isinstance(wanted, ExpectationResult):
        return wanted
    found = take(run, wanted.name)
    if isinstance(found, MeasuredText):
        return _judge_text(run, expectation, wanted, found)
    judged = wanted.judged.get(found)
    if judged is None:
        judged = wanted.judged[found] = _compare(expectation, wanted, found)
    return judged


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExpectedRange:
    """An expectation in one case: the value of its formula, with bounds in the measure's unit."""

    name: MeasureName
    unit: str
    terms: tuple[Term, ...] = ()
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    judged: dict[MeasureResult, ExpectationResult] = field(default_factory=dict)
    """The judgement of each measurement so far: simulated repeats measure the same."""


def _judge_text(
    run: RunView, expectation: Expectation, wanted: _ExpectedRange, found: MeasuredText
) -> ExpectationResult:
    """A word is the expected one or not. Of an operation before the first fault the wrong one shows nothing."""
    operation = run.operation(wanted.name.alias)
    assert not isinstance(operation, Missing), "it has an outcome"
    held = found.text == expectation.formula
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    reason = None if held else f"`{operation.alias}` is {found.text} after {took_s:.3f} s"
    if reason is not None and operation.error:
        reason = f"{reason}: {operation.error}"
    outcome = _outcome(held or (None if run.is_preparation(operation) else False), expectation)
    return _judged(
        expectation, wanted.unit, measured_text=found.text, outcome=outcome,
        fails_run=_fails_run(outcome, expectation), reason=reason,
    )  # fmt: skip


_Measurement = MeasuredValue | Censored | Missing
"""Of a time or a count."""


def _compare(expectation: Expectation, wanted: _ExpectedRange, found: _Measurement) -> ExpectationResult:
    low, high, unit = wanted.low, wanted.high, wanted.unit
    within, reason = _within(found, low, high, unit)
    if expectation.kind == "claim" and isinstance(found, WrongOutcome):
        within = None  # a claim of a time says nothing of an outcome
    outcome = _outcome(within, expectation)
    return _judged(
        expectation, unit, terms=wanted.terms, predicted=wanted.predicted, low=low, high=high,
        measured=found.value if isinstance(found, MeasuredValue) else None,
        measured_text=found.outcome if isinstance(found, WrongOutcome) else None,
        censored_at=found.at_least if isinstance(found, Censored) else None,
        outcome=outcome, fails_run=_fails_run(outcome, expectation), reason=reason,
    )  # fmt: skip


def _expected_range(scope: Scope, expectation: Expectation) -> _ExpectedRange | ExpectationResult:
    """The range that the expectation allows in this case; its judgement if it is skipped."""
    name = parse(expectation.measure)
    unit = MEASURES[name.measure].unit
    if expectation.when is not None and not evaluate_condition(Formula.parse(expectation.when), scope):
        return _judged(expectation, unit, outcome="skipped", reason=f"{expectation.when} is false here")
    if unit == "text":
        return _ExpectedRange(name=name, unit=unit)
    allowed = allowed_range(expectation, scope)
    evaluated = allowed.evaluated
    return _ExpectedRange(
        name=name,
        unit=unit,
        terms=() if evaluated is None else evaluated.terms,
        predicted=None if evaluated is None else evaluated.number,
        low=allowed.low,
        high=allowed.high,
    )


def _judged(expectation: Expectation, unit: str, **found: Any) -> ExpectationResult:
    return ExpectationResult(
        measure=expectation.measure, kind=expectation.kind, formula=expectation.formula, when=expectation.when,
        unit=unit, declared_holds=expectation.holds, source=expectation.source, name=expectation.name,
        line=expectation.line, bound=expectation.bound, **found,
    )  # fmt: skip


def absolute_tolerance(judged: ExpectationResult, expectation: Expectation) -> float:
    """The absolute part of a duration's tolerance in seconds; the relative one where it has no absolute part."""
    return expectation.within_absolute or expectation.within_relative * abs(judged.predicted or 0.0)


def format_value(value: float, unit: str) -> str:
    """`8.850 s`, or a count."""
    return f"{value:.3f} s" if unit == "s" else f"{value:g}"


def _within(found: _Measurement, low: float | None, high: float | None, unit: str) -> tuple[bool | None, str | None]:
    """Whether it lies within the bounds, None where that is not known, and why not."""
    slack = _ROUNDING * max(abs(low or 0.0), abs(high or 0.0), 1.0)
    match found:
        case WrongOutcome(reason, _):
            return False, reason
        case Missing(reason):
            return None, reason
        case Censored(at_least):
            if high is not None and at_least > high + slack:
                return False, f"still under way at {format_value(at_least, unit)}, above {format_value(high, unit)}"
            if high is None and low is not None and at_least >= low - slack:
                return True, None
            return None, f"at least {format_value(at_least, unit)}: it had not ended when the lab stopped looking"
        case MeasuredValue(value):
            if low is not None and value < low - slack:
                return False, f"{format_value(value, unit)} is below {format_value(low, unit)}"
            if high is not None and value > high + slack:
                return False, f"{format_value(value, unit)} is above {format_value(high, unit)}"
            return True, None


def _outcome(within: bool | None, expectation: Expectation) -> str:
    if within is None:
        return "inconclusive"
    if within:
        return "held"
    return "refuted" if expectation.kind == "claim" else "failed"


def _fails_run(outcome: str, expectation: Expectation) -> bool:
    if expectation.kind != "claim":
        return outcome == "failed"
    return expectation.holds is not None and outcome == ("refuted" if expectation.holds else "held")
