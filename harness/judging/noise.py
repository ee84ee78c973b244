"""What lateness can explain: an outcome that the lab's own lateness may have brought about decides nothing.

A time is too long by at most what the processes on its way have lost, so the truth lies between the measurement less
that and the measurement. Where a formula depends on a kernel timer, lateness does more than add itself: a link that is
healed just after a retransmission waits for the next. So bounds are also worked out for the moments at which the
fault's end may have met the client.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import copysign

from harness.formulas.evaluate import evaluate
from harness.formulas.scope import Scope
from harness.formulas.syntax import LASTS, FormulaError
from harness.formulas.values import duration
from harness.judging.lateness import Lateness, lateness
from harness.judging.one_run import judge_expectation
from harness.measures import Missing, RunView, parse
from harness.plan import Expectation, PlannedFault, Statistic
from harness.records.run import ExpectationResult
from harness.story import FaultStory

_STEP_S = 0.005
"""Distance of the moments that are tried: about that of two ticks of the kernel's timers."""
_STEPS = 100
"""At most so many of them are tried on each side."""
_OUTCOME_SHARE = 0.1
"""An operation of whose time more than this share was lost may have ended the other way on a quiet machine."""
_SEARCHED_S = 0.5
"""How far from a moment that is too near to a timer to say which comes first the other side is looked for."""


def noise_of(
    run: RunView, scope: Scope, expectation: Expectation | None, judged: ExpectationResult, late: Lateness
) -> str | None:
    """Why lateness may have brought this outcome about, None where it cannot. `late` is that of its own wait.

    `expectation` is None for a step's own `expect:`.
    """
    if late.total_s == 0 or judged.outcome in ("skipped", "inconclusive"):
        return None
    measured = judged.measured if judged.measured is not None else judged.censored_at
    if measured is None or expectation is None:
        return _changed_outcome(run, judged, late)
    if judged.unit == "s" and _straddles(judged, measured, late):
        return (
            f"the machine was too noisy: up to {late.total_s * 1e3:.1f} ms of the {measured:.3f} s of {judged.measure} "
            f"may be lateness (kept from running: {late.sentence()})"
        )
    if any(_agrees(shifted, judged, measured, late) for shifted in _shifted(run, scope, expectation, judged)):
        return (
            f"the machine was too noisy: {judged.measure} is what is expected of a fault that ends a little earlier or "
            f"later, and up to {late.total_s * 1e3:.1f} ms may be lateness (kept from running: {late.sentence()})"
        )
    return None


def _changed_outcome(run: RunView, judged: ExpectationResult, late: Lateness) -> str | None:
    """Why an operation may have ended the other way for lateness alone: a limit ran out, a healing was missed."""
    operation = run.operation(parse(judged.measure).alias)
    if judged.outcome != "failed" or isinstance(operation, Missing):
        return None
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    if late.total_s <= _OUTCOME_SHARE * took_s:
        return None
    return (
        f"the machine was too noisy: `{operation.alias}` took {took_s:.3f} s to end so, and up to "
        f"{late.total_s * 1e3:.1f} ms of that were lost to lateness ({late.sentence()})"
    )


def statistic_noise(run: RunView, together: list[Statistic]) -> str | None:
    """Why this run is no part of a statistic of times, None where it is."""
    for one in together:
        if one.unit != "s":
            continue
        tolerance = one.within_absolute or one.within_relative * abs(evaluate(one.formula, run.plan).number)
        late = lateness(run, parse(one.of).alias)
        if late.total_s > tolerance:
            return (
                f"the machine was too noisy: up to {late.total_s * 1e3:.1f} ms of {one.of} may be lateness "
                f"(kept from running: {late.sentence()}), more than its tolerance of {tolerance * 1e3:.1f} ms"
            )
    return None


def _straddles(judged: ExpectationResult, measured: float, late: Lateness) -> bool:
    """Whether a bound lies among the times that it may have taken without the lateness.

    What began earlier than the lab knows explains what is too short, and puts nothing in doubt that is short enough:
    limits are on times since the lab's confirmation.
    """
    bounds = (bound for bound in (judged.low, judged.high) if bound is not None)
    too_short = judged.low is not None and measured < judged.low <= measured + late.early_s
    return too_short or any(measured - late.total_s <= bound < measured for bound in bounds)


def _shifted(
    run: RunView, scope: Scope, expectation: Expectation, judged: ExpectationResult
) -> Iterator[ExpectationResult]:
    """An expectation that did not hold, judged as if a fault had lasted as long as it may have for the client.

    Shorter, since what the client does in it began late; longer, since it was undone late.
    """
    if judged.outcome not in ("failed", "refuted"):
        return
    for step in run.plan.steps:
        fault = run.fault(step.alias) if isinstance(step, PlannedFault) and step.for_s is not None else None
        name = f"{step.alias}.{LASTS}"
        if not isinstance(fault, FaultStory) or name not in f"{expectation.formula} {expectation.when}":
            continue
        lasts_s = scope.find(name).number
        undone_ns = fault.healed_ns if fault.healed_ns is not None else run.story.ended_ns
        late_s = (undone_ns - fault.confirmed_ns) / 1e9 - lasts_s
        for reach_s in (-lateness(run, fault.alias).total_s, max(0.0, late_s)):
            for shifted_s in _towards(reach_s):
                try:
                    at = duration(name, max(0.0, lasts_s + shifted_s))
                    there = replace(scope, other_names={**scope.other_names, name: at}, known={})
                    yield judge_expectation(run, there, expectation)
                except FormulaError:  # too near to a timer to say which comes first: both sides are within reach
                    continue
                if abs(shifted_s) >= abs(reach_s):
                    break


def _towards(reach_s: float) -> Iterator[float]:
    """Steps from 0 to `reach_s`, and as far beyond as the other side of a timer may be."""
    step_s = max(_STEP_S, abs(reach_s) / _STEPS)
    for number in range(1, round((abs(reach_s) + _SEARCHED_S) / step_s)):
        yield copysign(min(number * step_s, max(abs(reach_s), (number - 1) * step_s)), reach_s)


def _agrees(shifted: ExpectationResult, judged: ExpectationResult, measured: float, late: Lateness) -> bool:
    """Whether the measurement, or what it may have been without the lateness, is what is expected there."""
    if shifted.outcome == "skipped":
        return True
    late_s = late.total_s if judged.unit == "s" else 0.0
    above = shifted.low is None or measured >= shifted.low
    return above and (shifted.high is None or measured - late_s <= shifted.high)
