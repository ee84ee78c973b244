"""The values that an expectation allows: its formula's, with the tolerance and the lateness of the kernel's timers."""

from dataclasses import dataclass

from harness.formulas.evaluate import Evaluated, Formula
from harness.formulas.scope import Scope
from harness.plan import Expectation, Statistic


@dataclass(frozen=True, slots=True)
class AllowedRange:
    """From `low` to `high`, None: without a bound on that side. `evaluated` is None where both ends are formulas."""

    low: float | None
    high: float | None
    evaluated: Evaluated | None = None


def allowed_range(expected: Expectation | Statistic, scope: Scope, *, tolerant: bool = True) -> AllowedRange:
    """What it allows in this scope, in its measure's unit; without its `within` where not `tolerant`.

    Raises FormulaError, which cannot happen for a plan that was validated.
    """
    ends = expected.ends if isinstance(expected, Expectation) else ()
    least, most = (Formula.parse(text).evaluate(scope) for text in ends or (expected.formula, expected.formula))
    below, above = (_tolerance(expected, end.number) if tolerant else 0.0 for end in (least, most))
    return AllowedRange(
        low=None if expected.kind == "at_most" else least.number - below - least.early_s,
        high=None if expected.kind == "at_least" else most.number + above + most.late_s,
        evaluated=None if ends else least,
    )


def _tolerance(expected: Expectation | Statistic, predicted: float) -> float:
    return expected.within_relative * abs(predicted) + expected.within_absolute
