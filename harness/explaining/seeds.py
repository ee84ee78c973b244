"""Many simulated runs of one situation, each with a seed of its own, beside the distribution that predicts them."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from harness.explaining.configured_case import SEED, ConfiguredCase
from harness.explaining.insistent_caller import CALLED_AGAIN_S, carried_on, got_through, up_to
from harness.explaining.simulated import Simulate
from harness.formulas.distribution import PredictedDistribution, PredictedOutcome
from harness.language.identity import identity
from harness.measures import parse
from harness.plan import RunPlan
from harness.stats.binomial import at_least, at_most
from harness.story import Outcome, Story

SURE = 0.001
"""Counts that are less likely than this refute the distribution; shared among its outcomes."""
ABSOLUTE_S, RELATIVE = 0.05, 0.01
"""A run may take so much longer or shorter than its outcome's sum."""
PATIENCE, LEAST_PATIENCE_S = 20.0, 60.0
"""Such a caller gives up after so many mean times between two tries, and after this long at least."""
MOST_WAITED_FOR = 40
"""Of the runs that fail, so many are carried on to see when a call gets through."""
CALLS_IN_VAIN = 100
"""So many calls are made in all of this time where none is expected to get through."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRun:
    """How one run's call ended. `why` says what happened where it gave no time."""

    seed: int
    ends: Literal["ok", "failed"] | None
    seconds: float
    error: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`counts` has a number of runs for each predicted outcome, in their order; `unexplained` are runs like none of
    them. `recoveries_s` are the times from the first call until one got through, of the failed runs that were carried
    on; `stuck` counts those of them in which none did within `patience_s`."""

    runs: tuple[DrawnRun, ...]
    counts: tuple[int, ...]
    unexplained: tuple[DrawnRun, ...]
    recoveries_s: tuple[float, ...] = ()
    stuck: int = 0
    patience_s: float = 0.0

    @property
    def failed(self) -> tuple[DrawnRun, ...]:
        return tuple(run for run in self.runs if run.ends == "failed")

    @property
    def mean_s(self) -> float:
        return sum(run.seconds for run in self.runs) / len(self.runs)

    @property
    def recovery_s(self) -> float | None:
        """The mean time until a call gets through, of callers who do not wait in vain; None where all do."""
        through = [run.seconds for run in self.runs if run.ends == "ok"]
        if self.recoveries_s:
            # Those that were carried on stand for all that failed and were not stuck.
            share = len(self.recoveries_s) / (len(self.recoveries_s) + self.stuck)
            failed_s = sum(self.recoveries_s) / len(self.recoveries_s)
            weight = len(self.failed) * share
            return (sum(through) + weight * failed_s) / (len(through) + weight)
        return sum(through) / len(through) if through else None

    def quantile_s(self, q: float) -> float:
        """The shortest time within which this share of the runs had ended."""
        times = sorted(run.seconds for run in self.runs)
        return times[max(0, ceil(q * len(times) - ROUNDING) - 1)]

    def agrees_with(self, predicted: PredictedDistribution) -> bool:
        """Whether every run is like one of the outcomes, and each outcome as frequent as it should be."""
        if self.unexplained:
            return False
        each = SURE / max(1, len(predicted.outcomes)) / 2
        return all(
            at_most(count, len(self.runs), one.chance) > each and at_least(count, len(self.runs), one.chance) > each
            for count, one in zip(self.counts, predicted.outcomes, strict=True)
        )


def sample(
    configured_case: ConfiguredCase, measure: str, predicted: PredictedDistribution, simulate: Simulate,
    *, seeds: int, carry_on: bool,
) -> Sample:  # fmt: skip
    """Run it with so many seeds. `carry_on`: where the call fails, call again until one gets through."""
    alias = parse(measure).alias
    plan = up_to(configured_case.plan, alias)
    runs = [_drawn(simulate(_seeded(plan, seed)), alias, seed) for seed in range(SEED, SEED + seeds)]
    counts = [0] * len(predicted.outcomes)
    unexplained: list[DrawnRun] = []
    for run in runs:
        index = next((i for i, one in enumerate(predicted.outcomes) if _is_like(run, one)), None)
        if index is None:
            unexplained.append(run)
        else:
            counts[index] += 1
    found = Sample(runs=tuple(runs), counts=tuple(counts), unexplained=tuple(unexplained))
    failed = [run for run in runs if run.ends == "failed"][:MOST_WAITED_FOR] if carry_on else []
    if not failed:
        return found
    in_vain = all(one.ends == "failed" for one in predicted.outcomes) or all(
        one.lasting for one in predicted.outcomes if one.ends == "failed"
    )
    cycles_s = [one.again_s or one.seconds for one in predicted.outcomes if one.ends == "failed"]
    patience_s = max([LEAST_PATIENCE_S, *(PATIENCE * cycle_s for cycle_s in cycles_s)])
    insistent = carried_on(plan, patience_s, every_s=patience_s / CALLS_IN_VAIN if in_vain else CALLED_AGAIN_S)
    recoveries = [_recovery_s(simulate(_seeded(insistent, run.seed)), alias) for run in failed]
    return replace(
        found,
        recoveries_s=tuple(one for one in recoveries if one is not None),
        stuck=recoveries.count(None),
        patience_s=patience_s,
    )


def _is_like(run: DrawnRun, one: PredictedOutcome) -> bool:
    return run.ends == one.ends and abs(run.seconds - one.seconds) <= ABSOLUTE_S + RELATIVE * one.seconds


def _seeded(plan: RunPlan, seed: int) -> RunPlan:
    plan = replace(plan, seed=seed)
    return replace(plan, run_id=identity(plan))


def _drawn(story: Story, alias: str, seed: int) -> DrawnRun:
    if story.error is not None:
        return DrawnRun(seed=seed, ends=None, seconds=0.0, why=story.error.text)
    call = next((one for one in story.operations if one.alias == alias), None)
    if call is None or call.outcome is Outcome.CENSORED:
        unmet = next((f"`{one.alias}`: {one.unmet}" for one in story.operations if one.unmet), None)
        return DrawnRun(seed=seed, ends=None, seconds=0.0, why=unmet or f"`{alias}` had not ended")
    ends: Literal["ok", "failed"] = "ok" if call.outcome is Outcome.OK else "failed"
    return DrawnRun(seed=seed, ends=ends, seconds=(call.ended_ns - call.started_ns) / 1e9, error=call.error)


def _recovery_s(story: Story, alias: str) -> float | None:
    """From the first call's beginning until one got through; None where none did."""
    first = next(one for one in story.operations if one.alias == alias)
    through = got_through(story)
    return None if through is None else (through.ended_ns - first.started_ns) / 1e9
