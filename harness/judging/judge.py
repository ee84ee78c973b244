"""The verdict of a run. No data never passes, an unproven fault tests nothing, and noise decides nothing."""

from dataclasses import dataclass

from harness.formulas.profiles import profile_of
from harness.formulas.scope import scope_of
from harness.judging.lateness import Lateness, lateness
from harness.judging.measuring import all_measures
from harness.judging.met_faults import faults_without_effect
from harness.judging.noise import noise_of, statistic_noise
from harness.judging.one_run import format_value, judge_expectation
from harness.judging.statistic import applies
from harness.judging.step_results import failed_steps, preparation_failures
from harness.measures import RunView, parse
from harness.plan import Expectation, RunPlan
from harness.records.run import ExpectationResult, MeasureRecord, Verdict
from harness.story import Story


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """`noisy`: the machine was too busy for these tolerances; another try, alone, may be conclusive."""

    verdict: Verdict
    reasons: tuple[str, ...]
    measures: tuple[MeasureRecord, ...]
    judged: tuple[ExpectationResult, ...]
    noisy: bool = False


def judge(plan: RunPlan, story: Story) -> Judgement:
    """Judge a story by its plan's expectations.

    Before anything can pass or fail, the lab has to have worked, each step before the first fault to have ended as its
    `expect:` says, and each fault to be proven and to have met what is judged: otherwise the measures are recorded and
    decide nothing. A later step that did not end so is a failed expectation of its outcome. An expectation whose
    outcome the lab's lateness may have brought about decides nothing either; another one may still fail the run.
    """
    run = RunView(plan, story)
    scope = scope_of(plan, profile_of(plan.client))
    held = [(expectation, judge_expectation(run, scope, expectation)) for expectation in plan.expectations]
    applicable = [(expectation, judged) for expectation, judged in held if judged.outcome != "skipped"]
    together = [statistic for statistic in plan.statistics if applies(plan, statistic)]
    raw: list[tuple[Expectation | None, ExpectationResult]] = [*((None, step) for step in failed_steps(run)), *held]
    late = [lateness(run, parse(one.measure).alias) for _, one in raw]
    noises = [noise_of(run, scope, *one, during) for one, during in zip(raw, late, strict=True)]
    noise = next(filter(None, noises), None) or statistic_noise(run, together)
    without_effect = faults_without_effect(run, [expectation for expectation, _ in applicable], together)
    spoilt = [*_lab_errors(story), *preparation_failures(run), *_unproven(story), *without_effect]
    judged = tuple(
        _with_lateness(_invalidate(one, next(iter(spoilt), own or (noise if _may_follow(one) else None))), during)
        for (_, one), own, during in zip(raw, noises, late, strict=True)
    )
    if any(one.fails_run for one in judged):
        noise = None  # lateness cannot explain that, whatever else it may explain
    why = [*spoilt, *([noise] if noise is not None else [])]
    unsettled = _unsettled(story)
    reasons = [*why, *unsettled, *_open_reasons(judged, why)]
    if not applicable and not together:
        reasons.append(
            "every expectation was skipped: no `when` is true here"
            if held or plan.statistics
            else "nothing is expected of this run"
        )
    return Judgement(
        verdict=_verdict(story, judged, spoilt=bool(why), undecided=bool(unsettled) or not (applicable or together)),
        reasons=tuple(reasons) + tuple(_would_have_failed([one for _, one in raw], why)),
        measures=all_measures(run),
        judged=judged,
        noisy=noise is not None and story.error is None,
    )


def _verdict(story: Story, judged: tuple[ExpectationResult, ...], *, spoilt: bool, undecided: bool) -> Verdict:
    """That of the run alone: what it shows together with others is its group's. `undecided`: it cannot pass."""
    if story.error is not None:
        return "lab_error"
    if spoilt:
        return "inconclusive"
    if any(one.fails_run for one in judged):
        return "fail"
    return "inconclusive" if undecided or any(one.outcome == "inconclusive" for one in judged) else "pass"


def _lab_errors(story: Story) -> list[str]:
    return [] if story.error is None else [story.error.text]


def _unproven(story: Story) -> list[str]:
    return [f"fault `{fault.alias}` {fault.finding}" for fault in story.faults if not fault.proven]


def _unsettled(story: Story) -> list[str]:
    if story.integrity is None or story.integrity.settled.complete:
        return []
    return [f"the world had not settled after {story.integrity.settled.seconds:.0f} s: its log is not the last word"]


def _may_follow(raw: ExpectationResult) -> bool:
    """Whether it may have failed only since something else came late: no lateness is measured in counts."""
    return raw.unit == "count" and raw.outcome in ("failed", "refuted")


def _invalidate(raw: ExpectationResult, reason: str | None) -> ExpectationResult:
    """Make a judgement inconclusive if there is a reason."""
    if raw.outcome in ("skipped", "inconclusive") or reason is None:
        return raw
    return raw.model_copy(update={"outcome": "inconclusive", "fails_run": False, "reason": reason})


def _with_lateness(judged: ExpectationResult, late: Lateness) -> ExpectationResult:
    if judged.outcome == "skipped" or late.total_s == 0:
        return judged
    return judged.model_copy(update={"late_s": late.total_s})


def _open_reasons(judged: tuple[ExpectationResult, ...], why: list[str]) -> list[str]:
    """Why the run did not pass, expectation by expectation."""
    reasons = []
    for one in judged:
        if one.fails_run and one.kind == "claim":
            said = "holds" if one.declared_holds else "does not hold"
            reasons.append(f"the claim {one.formula} is {one.outcome}, though the scenario says that it {said}")
        elif one.fails_run:
            bound = one.formula if one.predicted is None else format_value(one.predicted, one.unit)
            reasons.append(f"{one.measure}: {one.reason} ({one.kind} {bound})")
        elif one.outcome == "inconclusive" and one.reason not in why:
            reasons.append(f"{one.measure}: {one.reason}")
    return reasons


def _would_have_failed(raw: list[ExpectationResult], why: list[str]) -> list[str]:
    if not why:
        return []
    return [
        f"{one.measure}: {one.reason}; that shows nothing in this run" for one in raw if one.fails_run and one.reason
    ]
