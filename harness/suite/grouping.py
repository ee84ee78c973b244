"""What the repeats of each case amount to together, once all of them have ended.

Over a whole suite in which every prediction is right, some statistical expectation fails with a chance below
`FAMILYWISE_ERROR_RATE`: it is divided evenly among them (Bonferroni), as if there were `MIN_FAMILY_SIZE` at least, so
that a number of repeats that is enough in a small suite is enough in a larger one.
"""

from collections.abc import Iterator, Sequence

from harness.judging.statistic import StatisticJudgement, applies, judge_statistic
from harness.plan import RunPlan, Statistic
from harness.records.case_key import CaseKey
from harness.records.group import GroupRecord
from harness.records.run import RunRecord, Verdict
from harness.suite.recording import named_value, shown_path

FAMILYWISE_ERROR_RATE = 0.001
MIN_FAMILY_SIZE = 20


def judge_groups(plans: Sequence[RunPlan], runs: Sequence[RunRecord]) -> tuple[GroupRecord, ...]:
    """Every statistical expectation over the runs of its case, in the order of planning.

    `runs` holds the last try of each plan; cases of which a run is missing are left out: they are not over.
    """
    cases: dict[CaseKey, list[RunPlan]] = {}
    for plan in plans:
        cases.setdefault(plan.case_key, []).append(plan)
    held = {run.run_id: run for run in runs}
    judged = sum(applies(case[0], statistic) for case in cases.values() for statistic in case[0].statistics)
    level = FAMILYWISE_ERROR_RATE / max(MIN_FAMILY_SIZE, judged)
    return tuple(
        record
        for case in cases.values()
        if all(plan.run_id in held for plan in case)
        for record in _of_case(case, [held[plan.run_id] for plan in case], level)
    )


def _of_case(plans: Sequence[RunPlan], runs: Sequence[RunRecord], level: float) -> Iterator[GroupRecord]:
    for statistic in plans[0].statistics:
        judgement = judge_statistic(plans[0], statistic, runs, level=level)
        yield _record(plans[0], statistic, judgement, runs=len(runs), level=level)


def _record(
    plan: RunPlan, statistic: Statistic, judgement: StatisticJudgement, *, runs: int, level: float
) -> GroupRecord:
    skipped = judgement.outcome == "skipped"
    return GroupRecord(
        scenario=plan.scenario,
        path=shown_path(plan.path),
        client=plan.client.name,
        client_version=plan.client.version,
        driver=plan.client.driver,
        environment=plan.environment,
        broker=plan.cluster.kind,
        broker_version=plan.cluster.version,
        parameters=tuple(named_value(value) for value in plan.parameters),
        statistic=statistic.statistic,
        of=statistic.of,
        q=statistic.q,
        kind=statistic.kind,
        formula=statistic.formula,
        when=statistic.when,
        unit=statistic.unit,
        terms=judgement.terms,
        predicted=judgement.predicted,
        low=judgement.low,
        high=judgement.high,
        runs=runs,
        measured=judgement.measured,
        estimate=judgement.estimate,
        interval_low=_finite(judgement.interval.low),
        interval_high=_finite(judgement.interval.high),
        level=None if skipped else level,
        needed=judgement.needed,
        verdict=_verdict(judgement),
        outcome=judgement.outcome,
        declared_holds=statistic.holds,
        reason=judgement.reason,
        source=statistic.source,
        name=statistic.name,
        line=statistic.line,
        bound=statistic.bound,
    )


def _verdict(judgement: StatisticJudgement) -> Verdict:
    if judgement.outcome == "skipped":
        return "skipped"
    if judgement.fails:
        return "fail"
    return "inconclusive" if judgement.outcome == "inconclusive" else "pass"


def _finite(end: float) -> float | None:
    return end if abs(end) < float("inf") else None
