"""Judges one statistical expectation by all runs of a case.

It fails only where the bounds exclude everything that is compatible with the runs; it holds where they include all of
that, or the estimate of enough runs. A run that shows nothing (no proof, noise, no measure) may have been anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.formulas.allowed import allowed_range
from harness.formulas.evaluate import condition_holds
from harness.formulas.profiles import profile_of
from harness.formulas.scope import scope_of
from harness.judging.estimating import Bounds, IntervalEstimate, estimate, estimate_interval
from harness.judging.sample import CensoredSample, collect_sample, format_value
from harness.plan import RunPlan, Statistic
from harness.records.run import RunRecord, Term
from harness.stats import Interval

StatisticOutcome = Literal["held", "failed", "refuted", "skipped", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticJudgement:
    """`measured` runs gave a value; `estimate` is over these. `needed`: how many runs a conclusion takes."""

    outcome: StatisticOutcome
    fails: bool = False
    terms: tuple[Term, ...] = ()
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    measured: int = 0
    estimate: float | None = None
    interval: Interval = field(default_factory=Interval)
    needed: int | None = None
    reason: str | None = None


def applies(plan: RunPlan, statistic: Statistic) -> bool:
    """Whether its `when` is true in this case."""
    return statistic.when is None or condition_holds(statistic.when, plan)


def judge_statistic(
    plan: RunPlan, statistic: Statistic, runs: Sequence[RunRecord], *, level: float
) -> StatisticJudgement:
    """Judge a statistic by the runs of its case; `plan` is that of any of them.

    `level` is the chance with which it may fail though the true value lies within its bounds.
    """
    if not applies(plan, statistic):
        return StatisticJudgement(outcome="skipped", reason=f"{statistic.when} is false here")
    allowed = allowed_range(statistic, scope_of(plan, profile_of(plan.client)))
    predicted = allowed.evaluated
    assert predicted is not None, "a statistic has one formula"
    tolerance = statistic.within_relative * abs(predicted.number) + statistic.within_absolute
    bounds = Bounds(predicted=predicted.number, tolerance=tolerance, low=allowed.low, high=allowed.high)
    sample = collect_sample(plan, statistic, runs)
    reason = _no_data_reason(statistic, sample)
    found = estimate_interval(statistic, sample, bounds, level=level) if reason is None else None
    outcome: Literal["held", "failed", "inconclusive"] = "inconclusive"
    if found is not None:
        outcome, reason = _decided(statistic, found, bounds, sample)
    return StatisticJudgement(
        outcome="refuted" if outcome == "failed" and statistic.kind == "claim" else outcome,
        fails=_fails(outcome, statistic),
        terms=predicted.terms,
        predicted=bounds.predicted,
        low=bounds.low,
        high=bounds.high,
        measured=len(sample.measured),
        estimate=estimate(statistic, sample),
        interval=Interval() if found is None else found.interval,
        needed=found.needed if found is not None and outcome == "inconclusive" else None,
        reason=reason,
    )


def _no_data_reason(statistic: Statistic, sample: CensoredSample) -> str | None:
    """Why the runs cannot be judged at all, None where they can."""
    if not sample.measured:
        return f"no run has a value: {sample.missing_reasons[0]}" if sample.missing_reasons else "there are no runs"
    if statistic.statistic != "mean":
        return None
    ends = [format_value(end, statistic.unit) for end in (statistic.lowest, statistic.highest)]
    stray = next((value for value in sample.measured if not statistic.lowest <= value <= statistic.highest), None)
    if stray is None:
        return None
    return f"a run gave {format_value(stray, statistic.unit)}, not between {' and '.join(ends)} as every run should"


def _decided(
    statistic: Statistic, found: IntervalEstimate, bounds: Bounds, sample: CensoredSample
) -> tuple[Literal["held", "failed", "inconclusive"], str | None]:
    runs, unit, low, high = len(sample.lows), statistic.unit, bounds.low, bounds.high
    shown = format_value(found.least, unit) + ("" if found.least == found.most else " or more")
    if high is not None and found.interval.low > high:
        return "failed", f"{shown} over {runs} runs: the true value is above {format_value(high, unit)}"
    if low is not None and found.interval.high < low:
        return "failed", f"{shown} over {runs} runs: the true value is below {format_value(low, unit)}"
    if (low is None or found.interval.low >= low) and (high is None or found.interval.high <= high):
        return "held", None
    missing_reasons = (
        f" ({len(sample.missing_reasons)} showed nothing: {sample.missing_reasons[0]})"
        if sample.missing_reasons
        else ""
    )
    about = "" if statistic.statistic == "share" else "about "
    needs = f"needs {about}{found.needed} runs" if found.needed is not None and found.needed > runs else "add runs"
    if not found.enough:
        return "inconclusive", f"{runs} runs are too few for this tolerance: {needs}{missing_reasons}"
    if (low is None or found.least >= low) and (high is None or found.most <= high):
        return "held", None
    return "inconclusive", f"{shown} is out of bounds, but chance may have done it: {needs}{missing_reasons}"


def _fails(outcome: str, statistic: Statistic) -> bool:
    if statistic.kind != "claim":
        return outcome == "failed"
    return statistic.holds is not None and outcome == ("failed" if statistic.holds else "held")
