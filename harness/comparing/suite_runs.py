"""From a suite's records to one side of a comparison: the conclusive runs, and what they measured."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from harness.comparing.cases import CaseRuns, SuiteRuns, printable
from harness.comparing.samples import Sample, sample_of
from harness.comparing.symptoms import Symptom, SymptomKind
from harness.plan import step_alias
from harness.records.case_key import by_case, case_key
from harness.records.reader import Results
from harness.records.run import MeasureRecord, RunRecord
from harness.stats import median

DIGITS = 4
"""Times are kept to a tenth of a millisecond: finer digits are noise of the lab, and cannot be reviewed."""

MAX_VALUE = 1e9
"""Larger times in seconds and larger counts are corrupt."""

REASONS = 3
"""How many reasons for inconclusive runs are kept."""

TOTALS = {"run.lost": SymptomKind.LOST, "run.duplicates": SymptomKind.DUPLICATED}


def suite_runs_of(results: Results) -> SuiteRuns:
    """What a results folder holds; each run's last try counts."""
    manifest = results.manifest
    return SuiteRuns(
        source=str(results.folder.path),
        machine=manifest.machine,
        faultlab=manifest.faultlab,
        cases=tuple(case_runs_of(runs) for runs in by_case(results.runs).values()),
        arguments=manifest.arguments,
        set_aside=tuple(str(line) for line in results.quarantined),
        unfinished=f"{len(results.missing)} of {len(manifest.run_ids)} runs are missing" if results.missing else "",
    )


def case_runs_of(runs: Sequence[RunRecord]) -> CaseRuns:
    """All runs of one case, taken together: at least one."""
    counted = [run for run in runs if inconclusive_reason(run) is None]
    reasons = Counter(reason for reason in map(inconclusive_reason, runs) if reason is not None)
    return CaseRuns(
        key=case_key(runs[0]),
        runs=len(runs),
        counted=len(counted),
        reasons=tuple(printable(reason) for reason, _ in reasons.most_common(REASONS)),
        samples=_samples(counted),
        happened=dict(sorted(Counter(one for run in counted for one in set(_symptoms(run))).items())),
        operations=tuple(dict.fromkeys(step_alias(call.alias) for run in counted for call in run.operations)),
        settings={setting.name: printable(setting.text) for setting in runs[0].settings},
        path=runs[0].path,
        timer_lag_s=round(median(run.noise.loop_lag_p99_s for run in counted), DIGITS) if counted else 0.0,
    )


def inconclusive_reason(run: RunRecord) -> str | None:
    """Why a run is inconclusive; None where it counts."""
    if run.error is not None:
        return run.error.text
    unproven = next((fault for fault in run.faults if not fault.proven), None)
    if unproven is not None:
        return f"fault `{unproven.alias}` {unproven.finding}"
    if run.noisy:
        return "the machine was too noisy"
    return "skipped" if run.verdict == "skipped" else None


def _samples(runs: Iterable[RunRecord]) -> dict[str, Sample]:
    measured: dict[str, list[MeasureRecord]] = {}
    for run in runs:
        for measure in run.measures:
            value = measure.value if measure.value is not None else measure.censored_at
            if value is not None and abs(value) <= MAX_VALUE:
                measured.setdefault(measure.name, []).append(measure)
    return {name: sample_of(measures[0].unit, measures, digits=DIGITS) for name, measures in sorted(measured.items())}


def _symptoms(run: RunRecord) -> Iterator[Symptom]:
    if run.verdict == "fail":
        yield Symptom(SymptomKind.VERDICT)
    last: dict[str, str] = {}
    for call in run.operations:
        alias = step_alias(call.alias)
        last[alias] = call.outcome
        if call.outcome == "failed":
            # Texts of errors name ports and ids: only the class is the same in every run.
            yield Symptom(SymptomKind.ERROR, f"{alias} {printable(call.error_class or 'without a class')}")
    for alias, outcome in last.items():
        if outcome != "ok":
            yield Symptom(SymptomKind.FAILS, alias)
        if outcome == "censored":
            yield Symptom(SymptomKind.HANGS, alias)
    for measure in run.measures:
        kind = TOTALS.get(measure.name)
        if kind is not None and measure.value:
            yield Symptom(kind)
        if measure.censored_at is not None and measure.value is None and measure.name.partition(".")[0] not in last:
            yield Symptom(SymptomKind.UNENDED, measure.name)
