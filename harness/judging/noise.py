"""Whether the machine was too noisy for what is expected of a run: how late the lab was, beside the tolerances."""

from harness.formulas.evaluate import evaluate
from harness.judging.one_run import absolute_tolerance
from harness.measures import Missing, RunView, parse
from harness.plan import Expectation, RunPlan, Statistic
from harness.records.run import ExpectationResult
from harness.story import Story

NOISE_SHARE = 0.5
"""How much of a duration's tolerance the lab's own lateness may take up."""


def noise_reason(
    run: RunView, applicable: list[tuple[Expectation, ExpectationResult]], together: list[Statistic]
) -> str | None:
    """Why the lab's lateness spoils the run, None where it does not."""
    tolerances = [*_tolerances(applicable), *_shared_tolerances(run.plan, together)]
    return _lag_reason(run.story, tolerances) or _accumulated_lag(run, applicable)


def _tolerances(applicable: list[tuple[Expectation, ExpectationResult]]) -> list[float]:
    """Those of times. A bound without any tolerance leaves its room in the formula: noise has nothing to exceed."""
    found = [absolute_tolerance(judged, expectation) for expectation, judged in applicable if judged.unit == "s"]
    return [tolerance for tolerance in found if tolerance > 0]


def _shared_tolerances(plan: RunPlan, statistics: list[Statistic]) -> list[float]:
    """Those of times over many runs, as narrow as those of a single one."""
    return [
        one.within_absolute or one.within_relative * abs(evaluate(one.formula, plan).number)
        for one in statistics
        if one.unit == "s"
    ]


def _lag_reason(story: Story, tolerances: list[float]) -> str | None:
    """Why the lab's timers came too late for these tolerances, None where they did not."""
    if not tolerances or story.noise.loop_lag_p99_s <= NOISE_SHARE * min(tolerances):
        return None
    lag_ms, limit_ms = story.noise.loop_lag_p99_s * 1e3, NOISE_SHARE * min(tolerances) * 1e3
    return (
        f"the machine was too noisy: timers came {lag_ms:.1f} ms late (p99), more than {limit_ms:.1f} ms, half of the"
        " smallest tolerance"
    )


def _accumulated_lag(run: RunView, applicable: list[tuple[Expectation, ExpectationResult]]) -> str | None:
    """Why a failure may be nothing but lateness, None where it is more: each wait that ran out came late once."""
    lag_s = run.story.noise.loop_lag_p99_s
    for _, judged in applicable:
        if not judged.fails_run or judged.unit != "s" or judged.measured is None or judged.high is None:
            continue
        operation = run.operation(parse(judged.measure).alias)
        if isinstance(operation, Missing):
            continue
        waits = sum(wait.outcome == "elapsed" for wait in run.during(operation).waits)
        if 0 < judged.measured - judged.high <= (waits + 1) * lag_s:
            return (
                f"the machine was too noisy: {waits} waits, each up to {lag_s * 1e3:.1f} ms late (p99), can make up the"
                f" {(judged.measured - judged.high) * 1e3:.1f} ms by which {judged.measure} is above its bound"
            )
    return None
