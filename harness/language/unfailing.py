"""Expectations that nothing can miss: whatever is measured lies within their bounds, so that they show nothing."""

from collections.abc import Iterable
from math import inf

from harness.formulas.allowed import AllowedRange, allowed_range
from harness.formulas.evaluate import Formula, evaluate_condition
from harness.formulas.profiles import profile_of
from harness.formulas.scope import scope_of
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Tree, at
from harness.measures import MEASURES, parse
from harness.plan import Expectation, PlannedOperation, RunPlan, Statistic
from harness.quantities import duration_text

Expected = Expectation | Statistic
TO_END = "time_to_"
"""How measures begin that a step's patience ends."""


def report_unfailing(plan: RunPlan, expected: Iterable[tuple[Expected, Tree]], diagnostics: Diagnostics) -> None:
    """Note every expectation that applies to this plan and that cannot fail, where its bound stands.

    `expected` are expectations of the plan, each with its place in the file.
    """
    scope = scope_of(plan, profile_of(plan.client))
    for one, tree in expected:
        if isinstance(one, Expectation) and MEASURES[parse(one.measure).measure].unit == "text":
            continue
        if one.when is not None and not evaluate_condition(Formula.parse(one.when), scope):
            continue
        least, most, why = _measurable(plan, one)
        if not _covers(allowed_range(one, scope), least, most, one):
            continue
        too_wide = not _covers(allowed_range(one, scope, tolerant=False), least, most, one)
        where = at(tree, ("within",) if too_wide else (one.kind,))
        diagnostics.add(where, "cannot-fail", f"this cannot fail: {why}", "write a bound that a measurement can miss")


def _covers(allowed: AllowedRange, least: float, most: float, one: Expected) -> bool:
    """Whether all that can be measured is allowed. A time that is given up at its very limit is above it."""
    low_enough = allowed.low is None or allowed.low <= least
    timed = isinstance(one, Expectation) or one.statistic == "quantile"
    return low_enough and (allowed.high is None or (allowed.high > most if timed else allowed.high >= most))


def _measurable(plan: RunPlan, one: Expected) -> tuple[float, float, str]:
    """The least and the most that can be measured, and why that is so."""
    if isinstance(one, Statistic) and one.statistic == "share":
        return 0.0, 1.0, "a share lies between 0 and 1"
    if isinstance(one, Statistic) and one.statistic == "mean":
        return one.lowest, one.highest, f"a mean lies between the least and the most of a run, as {one.of} does"
    text = one.of if isinstance(one, Statistic) else one.measure
    name = parse(text)
    if MEASURES[name.measure].unit != "s":
        return 0.0, inf, "a count is never below 0"
    steps = (step for step in plan.steps if isinstance(step, PlannedOperation) and step.alias == name.alias)
    step = next(steps, None)
    if name.measure.startswith(TO_END) and step is not None:
        most_s, why = step.give_up_after_s, f"`{name.alias}` is given up after {duration_text(step.give_up_after_s)}"
        return 0.0, most_s, f"a time is never below 0, and {why}"
    if MEASURES[name.measure].faults:
        return 0.0, plan.limit_s, f"a time is never below 0, and the run is ended after {duration_text(plan.limit_s)}"
    return 0.0, inf, "a time is never below 0"
