"""One statistical expectation held against all runs of a case.

It fails only where the bounds exclude everything that is compatible with the runs; it holds where they include all of
that, or the estimate of enough runs. A run that shows nothing (no proof, noise, no measure) may have been anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.expectations.estimating import Bounds, Seen, estimate, seen
from harness.expectations.told import Told, amount, tell
from harness.language.formulas import evaluate, evaluate_when
from harness.plan import RunPlan, Statistic
from harness.records.run import RunRecord, Term
from harness.stats import Interval

Outcome = Literal["held", "failed", "refuted", "skipped", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What the runs show. `measured` of them told what was asked; `estimate` is theirs. `needed`: so many it takes."""

    outcome: Outcome
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
    return statistic.when is None or evaluate_when(statistic.when, plan)


def hold_together(plan: RunPlan, statistic: Statistic, runs: Sequence[RunRecord], *, level: float) -> Together:
    """Judge a statistic by the runs of its case; `plan` is that of any of them.

    `level` is the chance with which it may fail though the true value lies within its bounds.
    """
    if not applies(plan, statistic):
        return Together(outcome="skipped", reason=f"{statistic.when} is false here")
    predicted = evaluate(statistic.formula, plan)
    tolerance = statistic.within_relative * abs(predicted.number) + statistic.within_absolute
    bounds = Bounds(
        predicted=predicted.number,
        tolerance=tolerance,
        low=None if statistic.kind == "at_most" else predicted.number - tolerance - predicted.early_s,
        high=None if statistic.kind == "at_least" else predicted.number + tolerance + predicted.late_s,
    )
    told = tell(plan, statistic, runs)
    reason = _nothing_told(statistic, told)
    found = seen(statistic, told, bounds, level=level) if reason is None else None
    outcome: Literal["held", "failed", "inconclusive"] = "inconclusive"
    if found is not None:
        outcome, reason = _decided(statistic, found, bounds, told)
    return Together(
        outcome="refuted" if outcome == "failed" and statistic.kind == "claim" else outcome,
        fails=_fails(outcome, statistic),
        terms=predicted.terms,
        predicted=bounds.predicted,
        low=bounds.low,
        high=bounds.high,
        measured=len(told.measured),
        estimate=estimate(statistic, told),
        interval=Interval() if found is None else found.interval,
        needed=found.needed if found is not None and outcome == "inconclusive" else None,
        reason=reason,
    )


def _nothing_told(statistic: Statistic, told: Told) -> str | None:
    """Why the runs cannot be judged at all, None where they can."""
    if not told.measured:
        return f"no run told anything of it: {told.silent[0]}" if told.silent else "there are no runs"
    if statistic.statistic != "mean":
        return None
    ends = [amount(end, statistic.unit) for end in (statistic.lowest, statistic.highest)]
    stray = next((value for value in told.measured if not statistic.lowest <= value <= statistic.highest), None)
    if stray is None:
        return None
    return f"a run gave {amount(stray, statistic.unit)}, not between {' and '.join(ends)} as every run should"


def _decided(
    statistic: Statistic, found: Seen, bounds: Bounds, told: Told
) -> tuple[Literal["held", "failed", "inconclusive"], str | None]:
    runs, unit, low, high = len(told.lows), statistic.unit, bounds.low, bounds.high
    shown = amount(found.least, unit) + ("" if found.least == found.most else " or more")
    if high is not None and found.interval.low > high:
        return "failed", f"{shown} over {runs} runs: the true value is above {amount(high, unit)}"
    if low is not None and found.interval.high < low:
        return "failed", f"{shown} over {runs} runs: the true value is below {amount(low, unit)}"
    if (low is None or found.interval.low >= low) and (high is None or found.interval.high <= high):
        return "held", None
    silent = f" ({len(told.silent)} showed nothing: {told.silent[0]})" if told.silent else ""
    about = "" if statistic.statistic == "share" else "about "
    needs = f"needs {about}{found.needed} runs" if found.needed is not None and found.needed > runs else "add runs"
    if not found.enough:
        return "inconclusive", f"{runs} runs are too few for this tolerance: {needs}{silent}"
    if (low is None or found.least >= low) and (high is None or found.most <= high):
        return "held", None
    return "inconclusive", f"{shown} is out of bounds, but chance may have done it: {needs}{silent}"


def _fails(outcome: str, statistic: Statistic) -> bool:
    if statistic.kind != "claim":
        return outcome == "failed"
    return statistic.holds is not None and outcome == ("failed" if statistic.holds else "held")
