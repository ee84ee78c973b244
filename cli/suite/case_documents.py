"""Cases as JSON values, for programs that run faultlab and present its findings themselves."""

from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from cli.show.cases import CaseRecords, ExpectationSummary, group_into_cases
from cli.show.failure import error_block
from cli.show.formatting import measured, predicted, tolerance, written
from cli.suite.failures import blocks, breakdown_of, events_by_run
from cli.suite.finished import FinishedSuite, replay_of_case
from cli.terminal.safe_text import safe
from harness.judging import Breakdown
from harness.records.event import EventRecord
from harness.records.reader import Results
from harness.records.run import MeasureRecord, RunRecord
from harness.stats import censored_median
from harness.suite.naming import case_id

EventSource = Callable[[Results, Sequence[RunRecord]], dict[str, list[EventRecord]]]
"""Finds the events of tries, by run id."""


def case_documents(
    finished: FinishedSuite, *, breakdown_of_passed: bool = True, find_events: EventSource = events_by_run
) -> list[dict[str, object]]:
    """Every case of a suite. `breakdown_of_passed`: also say where the time of passed cases went, which reads all
    events."""
    cases = group_into_cases(finished.results.runs, finished.results.groups)
    explained = [case.most_severe for case in cases if breakdown_of_passed or case.verdict != "pass"]
    events = find_events(finished.results, explained)
    return [_document(case, events.get(case.most_severe.run_id, []), finished) for case in cases]


def _document(case: CaseRecords, events: list[EventRecord], finished: FinishedSuite) -> dict[str, object]:
    run, leading = case.most_severe, case.leading()
    timed = leading if leading is not None and leading.unit == "s" else None
    breakdown = breakdown_of(run, timed, events, finished) if timed is not None and events else None
    return {
        "id": case_id(run.scenario, run.parameters),
        "scenario": run.scenario,
        "path": run.path,
        "client": run.client,
        "client_version": run.client_version,
        "driver": run.driver,
        "environment": run.environment,
        "parameters": {parameter.name: parameter.text for parameter in run.parameters},
        "settings": {setting.name: setting.text for setting in run.settings},
        "verdict": case.verdict,
        "blame": None if run.error is None else run.error.blame,
        "summary": safe(_summary(case, leading)),
        "text": safe("\n".join(line.plain for line in _text(case, events, finished))),
        "reasons": [safe(reason) for reason in _reasons(case)],
        "predicted": None if leading is None else predicted(leading.judged) + tolerance(leading.judged),
        "measured": None if leading is None else measured(leading),
        "findings": [_finding(finding) for finding in case.findings()],
        "measures": _measures(case.runs),
        "operations": {
            o.alias: {"outcome": o.outcome, "error": o.error, "error_class": o.error_class, "written": o.written}
            for o in run.operations
        },
        "where": None if breakdown is None else _breakdown_document(breakdown),
        "runs": [one.run_id for one in case.runs],
        "passed": case.passed,
        "replay": replay_of_case(case, finished),
    }


def _text(case: CaseRecords, events: list[EventRecord], finished: FinishedSuite) -> Iterator[Text]:
    """What is shown of a case that did not pass; for one that tested nothing, the reason."""
    for number, block in enumerate(blocks(case, events, finished)):
        if number:
            yield Text()
        yield from block
    if case.verdict in ("inconclusive", "skipped"):
        yield from error_block(case, replay=replay_of_case(case, finished), logs=None)


def _reasons(case: CaseRecords) -> list[str]:
    reasons = [reason for run in case.runs if run.verdict != "pass" for reason in run.reasons]
    reasons += [group.reason for group in case.groups if group.verdict not in ("pass", "skipped") and group.reason]
    return list(dict.fromkeys(reasons))


def _summary(case: CaseRecords, leading: ExpectationSummary | None) -> str:
    """One line that says why the verdict is what it is."""
    if case.verdict in ("pass", "fail") and leading is not None:
        judged = leading.judged
        text = f"{judged.measure}: measured {measured(leading)}, "
        if judged.kind == "claim":
            return f"{text}claim {judged.outcome}: {predicted(judged)}{tolerance(judged)}"
        return f"{text}expected {predicted(judged)}{tolerance(judged)}"
    return next(iter(_reasons(case)), "nothing was tested")


def _finding(finding: ExpectationSummary) -> dict[str, object]:
    judged = finding.judged
    return {
        "measure": judged.measure,
        "kind": judged.kind,
        "formula": judged.formula,
        "unit": judged.unit,
        "predicted": judged.predicted,
        "low": judged.low,
        "high": judged.high,
        "measured": None if finding.measured is None else finding.measured.value,
        "censored": finding.measured is not None and finding.measured.censored,
        "every": list(finding.measured_values),
        "off": finding.off,
        "outcome": judged.outcome,
        "fails": judged.fails_run,
        "source": judged.source,
        "name": judged.name,
        "bound": written(judged),
        "line": judged.line,
    }


def _measures(runs: Sequence[RunRecord]) -> dict[str, dict[str, object]]:
    """The median over the repeats; of what no repeat measured, why."""
    together: dict[str, list[MeasureRecord]] = {}
    for run in runs:
        for measure in run.measures:
            together.setdefault(measure.name, []).append(measure)
    return {name: _measure(measures) for name, measures in together.items()}


def _measure(measures: Sequence[MeasureRecord]) -> dict[str, object]:
    values = [m.value for m in measures if m.value is not None]
    bounds = [m.censored_at for m in measures if m.value is None and m.censored_at is not None]
    middle = censored_median(values, bounds) if values or bounds else None
    return {
        "unit": measures[0].unit,
        "value": None if middle is None else middle.value,
        "censored": middle is not None and middle.censored,
        "missing": measures[0].missing if middle is None else None,
    }


def _breakdown_document(breakdown: Breakdown) -> dict[str, object]:
    return {
        "predicted_s": breakdown.predicted_s,
        "measured_s": breakdown.measured_s,
        "rows": [
            {
                "name": row.text,
                "setting": row.setting,
                "predicted_count": row.predicted_count,
                "predicted_s": row.predicted_s,
                "measured_count": row.measured_count,
                "measured_s": row.measured_s,
            }
            for row in breakdown.rows
        ],
        "no_term_s": breakdown.unattributed_s,
        "never_waited_on": list(breakdown.never_waited_on),
    }
