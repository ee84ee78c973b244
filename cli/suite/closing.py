"""What is printed when a suite has ended: failures in detail, table, claims, verdict, and the next commands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from shlex import quote
from typing import Literal

from rich.console import Console
from rich.text import Text

from cli.errors import CommandError, print_error
from cli.exit_codes import ExitCode
from cli.report.build import make_report
from cli.show.case_annotations import annotations
from cli.show.cases import CaseRecords, ExpectationSummary, group_into_cases, verdict_counts
from cli.show.claims import claims
from cli.show.failure import error_block, failure, group_failure
from cli.show.formatting import pluralized, seconds
from cli.show.job_summary import job_summary, worst_first
from cli.show.rows import wrapped
from cli.show.summary import EXIT_HEADLINES, VERDICT_COUNT_LABELS, pointers, sentence, table, verdict
from cli.terminal.console import annotate, append_job_summary, log_group, writes_to_ci_log
from harness.judging import Breakdown, break_down_time
from harness.plan import RunPlan
from harness.records.event import EventRecord
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_junit
from harness.records.reader import QuarantinedLine, Results, read_events
from harness.records.run import RunRecord
from harness.suite.restoring import find_expectation, restore_story
from harness.suite.resuming import short_id

FORMAT = 1
MAX_DETAILED_FAILURES = 4
"""How many failures are shown in detail without `--all`."""
DEFAULT_PARENT = Path("results")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSuite:
    """A suite read back from its folder, and how it ended. `plans` by run id; `page`: the report, if it was made."""

    results: Results
    plans: Mapping[str, RunPlan]
    elapsed_s: float
    exit: ExitCode
    page: Path | None = None


def show(
    screen: Console, finished: FinishedSuite, *, show_all: bool, report: bool, junit: Sequence[Path] = ()
) -> ExitCode:
    """Print it all; the verdict comes last. The exit code: files that cannot be made are the lab's failure.

    `junit`: where to write the results as JUnit XML.
    """
    cases = group_into_cases(finished.results.runs, finished.results.groups)
    for quarantined in finished.results.quarantined:
        screen.print(wrapped(f"set aside: {quarantined}", lead="", style="yellow"))
    blocks = list(_details(cases, finished))
    shown = len(blocks) if show_all or writes_to_ci_log(screen) else MAX_DETAILED_FAILURES
    for lines in map(list, blocks[:shown]):
        screen.print()
        with log_group(screen, lines[0].plain):
            for line in lines:
                screen.print(line)
    if len(blocks) > shown:
        screen.print(f"\nand {pluralized(len(blocks) - shown, 'more failure')} like these (--all)")
    for case in worst_first(cases):
        for annotation in annotations(case, replay=replay_of_case(case, finished)):
            annotate(screen, annotation)
    if cases:
        screen.print()
        for line in (*table(cases, show_all=show_all), *claims(cases)):
            screen.print(line)
    code = finished.exit
    if report:
        screen.print()
        try:
            finished = replace(finished, page=make_report(screen, finished.results.folder.path).page)
        except CommandError as stop:
            print_error(stop.format_message())
            code = code if code is ExitCode.FAILED else ExitCode.LAB_ERROR
    for file in junit:
        try:
            write_junit(file, [finished.results])
        except ResultsUnwritable as unwritable:
            print_error(f"{unwritable.problem}\n  {unwritable.remedy}")
            code = code if code is ExitCode.FAILED else ExitCode.LAB_ERROR
    _write_job_summary(screen, finished, cases, code)
    screen.print()
    screen.print(
        verdict(
            finished.results.runs, cases, planned=len(finished.plans), elapsed_s=finished.elapsed_s, code=finished.exit
        )
    )
    for line in pointers(list(_pointers(cases, finished)), code):
        screen.print(line)
    return code


def _write_job_summary(
    screen: Console, finished: FinishedSuite, cases: tuple[CaseRecords, ...], code: ExitCode
) -> None:
    manifest = finished.results.manifest
    facts = f"{manifest.environment}, seed {manifest.seed}, {seconds(finished.elapsed_s)}, exit {int(code)}"
    text = sentence(finished.results.runs, cases, planned=len(finished.plans))
    head = EXIT_HEADLINES[finished.exit][0]
    append_job_summary(
        screen,
        job_summary(cases, head=head, sentence=text, facts=facts, replay=lambda case: replay_of_case(case, finished)),
    )


def suite_document(finished: FinishedSuite, code: ExitCode, cases: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The suite as JSON values; `code` is what the process exits with, `cases` are as `cli.suite.case_documents`
    tells them."""
    results = finished.results
    counted = verdict_counts(results.runs)
    return {
        "format": FORMAT,
        "verdict": EXIT_HEADLINES[finished.exit][0].lower(),
        "exit_code": int(code),
        "results": str(results.folder.path),
        "environment": results.manifest.environment,
        "seed": results.manifest.seed,
        "elapsed_s": round(finished.elapsed_s, 3),
        "planned": len(finished.plans),
        "counts": {word: counted[word] for word, _ in VERDICT_COUNT_LABELS},
        "missing": list(results.missing),
        "quarantined": [str(one) for one in results.quarantined],
        "replay": {run.run_id: replay_of(run, finished) for run in results.runs if run.verdict != "pass"},
        "cases": list(cases),
        "runs": [run.model_dump(mode="json") for run in results.runs],
        "groups": [group.model_dump(mode="json") for group in results.groups],
    }


def _details(cases: tuple[CaseRecords, ...], finished: FinishedSuite) -> Iterator[Iterator[Text]]:
    wrong = [case for case in cases if case.verdict in ("fail", "lab_error")]
    events = events_by_run(finished.results, [case.most_severe for case in wrong if case.verdict == "fail"])
    for case in wrong:
        yield from blocks(case, events.get(case.most_severe.run_id, []), finished)


def events_by_run(results: Results, runs: Sequence[RunRecord]) -> dict[str, list[EventRecord]]:
    """The events of these tries, by run id."""
    attempts = {run.run_id: run.attempt for run in runs}
    events: dict[str, list[EventRecord]] = {}
    if attempts:
        quarantined: list[QuarantinedLine] = []
        mine = (e for e in read_events(results, quarantined) if attempts.get(e.run_id) == e.attempt)
        for run_id, group in groupby(mine, key=lambda event: event.run_id):
            events.setdefault(run_id, []).extend(group)
    return events


def blocks(case: CaseRecords, events: list[EventRecord], finished: FinishedSuite) -> Iterator[Iterator[Text]]:
    """What is wrong with a case that failed or that the lab ended, in detail. `events` are of its worst run."""
    if case.verdict not in ("fail", "lab_error"):
        return
    run = case.most_severe
    failed = [one for one in case.expectations() if one.judged.fails_run] if case.verdict == "fail" else []
    if failed:
        yield failure(case, _breakdowns(run, failed, events, finished), replay=replay_of(run, finished))
    broken = [shared for shared in case.groups if shared.verdict == "fail"]
    for shared in broken:
        yield group_failure(case, shared, replay=replay_command(run.run_id, finished.results, scope="group"))
    if case.verdict != "fail" or not (failed or broken):
        logs = finished.results.folder.log_folder(run.run_id, run.attempt)
        yield error_block(case, replay=replay_of_case(case, finished), logs=str(logs) if logs.is_dir() else None)


def _breakdowns(
    run: RunRecord, failed: Sequence[ExpectationSummary], events: list[EventRecord], finished: FinishedSuite
) -> list[tuple[ExpectationSummary, Breakdown]]:
    """Where the time of each operation went of which a bound was violated: by its formula, where that was one."""
    by_operation: dict[str, tuple[ExpectationSummary, Breakdown]] = {}
    for finding in failed:
        alias = finding.judged.measure.partition(".")[0]
        found, known = breakdown_of(run, finding, events, finished), by_operation.get(alias)
        if found is not None and (known is None or (found.by_formula and not known[1].by_formula)):
            by_operation[alias] = finding, found
    return list(by_operation.values())


def breakdown_of(
    run: RunRecord, finding: ExpectationSummary, events: list[EventRecord], finished: FinishedSuite
) -> Breakdown | None:
    """Where the time of one run went, compared with the formula; None where that is unknown, and for counts."""
    plan = finished.plans[run.run_id]
    expectation = find_expectation(plan, finding.judged)
    if expectation is None or finding.judged.unit != "s":
        return None
    found = break_down_time(replace(plan, attempt=run.attempt), restore_story(run, events), expectation)
    return found if isinstance(found, Breakdown) else None


def replay_of(run: RunRecord, finished: FinishedSuite) -> str:
    """The command that makes this run again."""
    return replay_command(run.run_id, finished.results)


def replay_of_case(case: CaseRecords, finished: FinishedSuite) -> str:
    """The command that shows again what is wrong with a case: all of its repeats, where only all of them show it."""
    of_one = case.most_severe.verdict == case.verdict
    return replay_command(case.most_severe.run_id, finished.results, scope="run" if of_one else "group")


def replay_command(run_id: str, results: Results, *, scope: Literal["run", "group"] = "run") -> str:
    """`faultlab replay 7f3a`."""
    folder = results.folder.path
    where = "" if folder.parent == DEFAULT_PARENT else f" --in {quote(str(folder))}"
    group = " --group" if scope == "group" else ""
    return f"faultlab replay {short_id(run_id, results.manifest.run_ids)}{group}{where}"


def _pointers(cases: tuple[CaseRecords, ...], finished: FinishedSuite) -> Iterator[tuple[str, str]]:
    folder = finished.results.folder.path
    if finished.exit is ExitCode.INTERRUPTED:
        yield "kept", f"{len(finished.results.runs)} of {len(finished.plans)} runs in {folder}"
        yield "resume", f"faultlab run --resume {quote(str(folder))}"
        return
    wrong = [case for case in cases if case.verdict != "pass"]
    if wrong:
        most_severe = min(wrong, key=lambda case: ("fail", "lab_error", "inconclusive", "skipped").index(case.verdict))
        yield "replay", replay_of_case(most_severe, finished)
    yield "results", str(folder)
    yield "report", str(finished.page) if finished.page is not None else f"faultlab report {quote(str(folder))}"
