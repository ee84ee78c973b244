"""From the runs of several sides to a record of agreement for each measure of each case."""

from collections.abc import Iterable, Sequence
from math import ceil

from harness.agreement.cases import AgreementCase
from harness.agreement.equivalence import MATRIX_CHANCE, compare
from harness.agreement.known_differences import mark_explained
from harness.agreement.samples import SideSample, side_sample
from harness.comparing.samples import Unit
from harness.records.agreement import Agreement, AgreementRecord, Side, SideComparison, SideResult
from harness.records.case_key import CaseKey, case_key
from harness.records.run import ExpectationResult, RunRecord
from harness.stats import censored_median, median

RELATIVE, ABSOLUTE_S, ABSOLUTE_COUNT = 0.02, 0.050, 0.5
"""Times agree within 50 ms + 2 % of each other, counts within 0.5 + 2 %: below 25 only if they are equal. A loop whose
rounds take 2 % longer dials 2 % less often in the same time."""
SAFETY_FACTOR = 1.5
"""Further runs differ a little from those seen, so more are made than should be enough."""
GROWTH = 4
"""Few runs say little of how many are needed: as long as there is another look, a case gets so many times its runs."""
WORST_FIRST: tuple[Agreement, ...] = ("differs", "unsure", "explained", "agrees")


def evaluate_agreement(cases: Sequence[AgreementCase], *, looks: int = 1) -> tuple[AgreementRecord, ...]:
    """Every measure of every case, compared with its reference: the first side of `SIDES` that ran it.

    A known difference is marked as explained. Raises DifferencesUnreadable.
    `looks` is how often the matrix is judged, each time with more runs: the chance of an alarm is divided among them.
    """
    rows = [(case, measure) for case in cases for measure in case.measures]
    comparisons = sum(len(case.runs) - 1 for case, _ in rows)
    level = MATRIX_CHANCE / max(1, comparisons * looks)
    records = mark_explained([_record(case, measure, level) for case, measure in rows])
    return tuple(one.model_copy(update={"outcome": worst(one.compared)}) for one in records)


def _record(case: AgreementCase, measure: str, level: float) -> AgreementRecord:
    run = case.any
    judged = next(
        (
            one
            for one in run.expectations
            if one.measure == measure and one.outcome != "skipped" and one.kind == "equals"
        ),
        None,
    )
    unit = _unit(case, measure)
    samples = {side: side_sample(unit, runs, measure) for side, runs in case.runs.items()}
    (first, reference), *others = samples.items()
    bound = _bound(unit, reference)
    compared = tuple(compare(reference, other, sides=(first, side), bound=bound, level=level) for side, other in others)
    return AgreementRecord(
        scenario=run.scenario, path=run.path, client=run.client, client_version=run.client_version,
        broker=run.broker, broker_version=run.broker_version, brokers=run.brokers, bootstrap=run.bootstrap,
        parameters=run.parameters,
        fault=", ".join(dict.fromkeys(fault.fault for fault in run.faults)), measure=measure, unit=unit,
        **_prediction(judged), sides=tuple(_sided(side, sample) for side, sample in samples.items()),
        compared=compared, outcome=worst(compared),
    )  # fmt: skip


def worst(compared: Iterable[SideComparison]) -> Agreement:
    outcomes = {one.outcome for one in compared}
    return next(outcome for outcome in WORST_FIRST if outcome in outcomes)


def _prediction(judged: ExpectationResult | None) -> dict[str, object]:
    """The prediction, where an expectation of the scenario has one."""
    if judged is None:
        return {}
    return {"formula": judged.formula, "terms": judged.terms, "predicted": judged.predicted}


def _unit(case: AgreementCase, measure: str) -> Unit:
    if measure.endswith(".outcome"):
        return "outcome"
    if measure.endswith(".time_to_end"):
        return "s"
    if measure.endswith(".dials"):
        return "count"
    unit = _expected(case.any, measure).unit
    assert unit != "text", "an outcome is the only word that is measured"
    return unit


def _expected(run: RunRecord, measure: str) -> ExpectationResult:
    return next(judged for judged in run.expectations if judged.measure == measure)


def _bound(unit: Unit, reference: SideSample) -> float:
    absolute = ABSOLUTE_S if unit == "s" else ABSOLUTE_COUNT
    return absolute + RELATIVE * abs(median(reference.values)) if reference.values else absolute


def _sided(side: Side, sample: SideSample) -> SideResult:
    middle = censored_median(sample.values, [float("inf")] * len(sample.censored)) if sample.values else None
    words = {word: sample.words.count(word) for word in sorted(set(sample.words))}
    return SideResult(
        side=side, runs=sample.runs, measured=len(sample.values) + len(sample.words), censored=len(sample.censored),
        median=middle.value if middle is not None and not middle.censored else None, values=sample.values,
        outcomes=tuple(words.items()), silent=sample.silent if len(sample) < sample.runs else None,
    )  # fmt: skip


def runs_needed_by_case(records: Iterable[AgreementRecord], *, most: int, last_look: bool = True) -> dict[CaseKey, int]:
    """How many runs a side each undecided case gets, by `CaseKey.on_any_side`: those it needs with a margin, `most` at
    most."""
    needed: dict[CaseKey, int] = {}
    for record in records:
        key = case_key(record)
        allowed = most if last_look else min(most, GROWTH * max(side.runs for side in record.sides))
        for compared in record.compared:
            if compared.outcome == "unsure":
                runs = min(allowed, ceil(compared.needed * SAFETY_FACTOR) if compared.needed is not None else allowed)
                needed[key] = max(needed.get(key, 0), runs)
    return needed
