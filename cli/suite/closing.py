"""What is printed when a suite has ended: failures in detail, table, claims, verdict, and the next commands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from rich.console import Console

from cli.errors import CommandError, print_error
from cli.exit_codes import ExitCode
from cli.report.build import make_report
from cli.show.case_annotations import annotations
from cli.show.cases import CaseRecords, group_into_cases, verdict_counts, worst_first
from cli.show.claims import claims
from cli.show.formatting import case_label, pluralized, seconds
from cli.show.job_summary import job_summary
from cli.show.rows import CaseRows, wrapped
from cli.show.summary import EXIT_HEADLINES, VERDICT_COUNT_LABELS, headline, pointers, sentence, table, verdict
from cli.suite.failures import events_by_run, shared_failures
from cli.suite.finished import FinishedSuite, replay_of, replay_of_case
from cli.terminal.console import annotate, append_job_summary, columns_of, log_group, writes_to_ci_log
from harness.records.case_key import case_key
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_junit

FORMAT = 1
MAX_DETAILED_FAILURES = 4
"""So many groups of failures are shown without `--all`."""


def show(
    screen: Console, finished: FinishedSuite, *, show_all: bool, report: bool, junit: Sequence[Path] = ()
) -> ExitCode:
    """Print it all; the verdict comes last. The exit code: files that cannot be made are the lab's failure.

    `junit`: where to write the results as JUnit XML.
    """
    cases, width = group_into_cases(finished.results.runs, finished.results.groups), columns_of(screen)
    for quarantined in finished.results.quarantined:
        screen.print(wrapped(f"set aside: {quarantined}", lead="", style="yellow", width=width))
    failures = shared_failures(cases)
    shown = len(failures) if show_all or writes_to_ci_log(screen) else MAX_DETAILED_FAILURES
    events = events_by_run(finished.results, [one.worst_run for one in failures[:shown]])
    for one in failures[:shown]:
        of_worst = events.get(one.worst_run.run_id, [])
        lines = list(one.lines(of_worst, finished, show_all=show_all, width=width))
        screen.print()
        with log_group(screen, lines[0].plain):
            for line in lines:
                screen.print(line)
    if len(failures) > shown:
        rest = sum(len(one.cases) for one in failures[shown:])
        screen.print(f"\n{pluralized(rest, 'more case')} failed for other reasons (--all)")
    for case in worst_first(cases):
        for annotation in annotations(case, replay=replay_of_case(case, finished)):
            annotate(screen, annotation)
    rows = CaseRows((case_key(case.first) for case in cases), words={case_label(case) for case in cases}, width=width)
    if cases:
        screen.print()
        for line in (*table(cases, rows, show_all=show_all), *claims(cases, width=rows.width)):
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
            finished.results.runs, cases, planned=len(finished.plans), elapsed_s=finished.elapsed_s,
            code=finished.exit, width=rows.width,
        )
    )  # fmt: skip
    for line in pointers(list(_pointers(cases, finished)), code, width=rows.width):
        screen.print(line)
    return code


def _write_job_summary(
    screen: Console, finished: FinishedSuite, cases: tuple[CaseRecords, ...], code: ExitCode
) -> None:
    manifest = finished.results.manifest
    facts = f"{manifest.environment}, seed {manifest.seed}, {seconds(finished.elapsed_s)}, exit {int(code)}"
    text = sentence(finished.results.runs, cases, planned=len(finished.plans))
    head, _ = headline(finished.exit, finished.results.runs)
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
        "verdict": EXIT_HEADLINES[finished.exit][0].lower().replace(" ", "_"),
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


def _pointers(cases: tuple[CaseRecords, ...], finished: FinishedSuite) -> Iterator[tuple[str, str]]:
    folder = finished.results.folder.path
    if finished.exit is ExitCode.INTERRUPTED:
        yield "kept", f"{len(finished.results.runs)} of {len(finished.plans)} runs in {folder}"
        yield "resume", f"faultlab run --resume {quote(str(folder))}"
        return
    shown_first = [failure.cases[0] for failure in shared_failures(cases)] or worst_first(cases)
    if shown_first:
        yield "replay", replay_of_case(shown_first[0], finished)
    yield "results", str(folder)
    yield "report", str(finished.page) if finished.page is not None else f"faultlab report {quote(str(folder))}"
