"""What is said when a suite has ended: failures in detail, table, claims, verdict, and what to type next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from shlex import quote
from typing import Literal

from rich.console import Console
from rich.text import Text

from cli.console import annotate, grouped, in_log, summarise
from cli.errors import Stop, say_error
from cli.exits import Exit
from cli.making import make_report
from cli.show.annotated import annotations
from cli.show.cases import Case, Finding, cases_of, counts
from cli.show.claims import claims
from cli.show.failure import failure, group_failure, trouble
from cli.show.figures import many, seconds
from cli.show.job_summary import job_summary, worst_first
from cli.show.rows import folded
from cli.show.summary import COUNTED, HEADS, pointers, sentence, table, verdict
from harness.expectations import Breakdown, where_the_time_went
from harness.plan import RunPlan
from harness.records.event import EventRecord
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_junit
from harness.records.reader import Quarantined, Results, read_events
from harness.records.run import RunRecord
from harness.suite.resuming import short_id
from harness.suite.retelling import expectation_of, story_of

FORMAT = 1
DETAILS = 4
"""So many failures are shown in detail without `--all`."""
DEFAULT_PARENT = Path("results")


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A suite read back from its folder, and how it ended. `plans` by run id; `page`: the report, if it was made."""

    results: Results
    plans: Mapping[str, RunPlan]
    elapsed_s: float
    exit: Exit
    page: Path | None = None


def show(screen: Console, closed: Closed, *, everything: bool, report: bool, junit: Sequence[Path] = ()) -> Exit:
    """Print it all; the verdict comes last. The exit code: files that cannot be made are the lab's failure.

    `junit`: where to write the results as JUnit XML.
    """
    cases = cases_of(closed.results.runs, closed.results.groups)
    for quarantined in closed.results.quarantined:
        screen.print(folded(f"set aside: {quarantined}", lead="", style="yellow"))
    blocks = list(_details(cases, closed))
    shown = len(blocks) if everything or in_log(screen) else DETAILS
    for lines in map(list, blocks[:shown]):
        screen.print()
        with grouped(screen, lines[0].plain):
            for line in lines:
                screen.print(line)
    if len(blocks) > shown:
        screen.print(f"\nand {many(len(blocks) - shown, 'more failure')} like these (--all)")
    for case in worst_first(cases):
        for annotation in annotations(case, replay=replay_of_case(case, closed)):
            annotate(screen, annotation)
    if cases:
        screen.print()
        for line in (*table(cases, everything=everything), *claims(cases)):
            screen.print(line)
    code = closed.exit
    if report:
        screen.print()
        try:
            closed = replace(closed, page=make_report(screen, closed.results.folder.path).page)
        except Stop as stop:
            say_error(stop.format_message())
            code = code if code is Exit.FAILED else Exit.LAB
    for file in junit:
        try:
            write_junit(file, [closed.results])
        except ResultsUnwritable as unwritable:
            say_error(f"{unwritable.problem}\n  {unwritable.remedy}")
            code = code if code is Exit.FAILED else Exit.LAB
    _summarise(screen, closed, cases, code)
    screen.print()
    screen.print(
        verdict(closed.results.runs, cases, planned=len(closed.plans), elapsed_s=closed.elapsed_s, code=closed.exit)
    )
    for line in pointers(list(_pointers(cases, closed)), code):
        screen.print(line)
    return code


def _summarise(screen: Console, closed: Closed, cases: tuple[Case, ...], code: Exit) -> None:
    manifest = closed.results.manifest
    facts = f"{manifest.environment}, seed {manifest.seed}, {seconds(closed.elapsed_s)}, exit {int(code)}"
    told = sentence(closed.results.runs, cases, planned=len(closed.plans))
    head = HEADS[closed.exit][0]
    summarise(
        screen,
        job_summary(cases, head=head, sentence=told, facts=facts, replay=lambda case: replay_of_case(case, closed)),
    )


def document(closed: Closed, code: Exit, cases: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The suite as JSON values; `code` is what the process exits with, `cases` are as `cli.telling` tells them."""
    results = closed.results
    counted = counts(results.runs)
    return {
        "format": FORMAT,
        "verdict": HEADS[closed.exit][0].lower(),
        "exit_code": int(code),
        "results": str(results.folder.path),
        "environment": results.manifest.environment,
        "seed": results.manifest.seed,
        "elapsed_s": round(closed.elapsed_s, 3),
        "planned": len(closed.plans),
        "counts": {word: counted[word] for word, _ in COUNTED},
        "missing": list(results.missing),
        "quarantined": [str(one) for one in results.quarantined],
        "replay": {run.run_id: replay_of(run, closed) for run in results.runs if run.verdict != "pass"},
        "cases": list(cases),
        "runs": [run.model_dump(mode="json") for run in results.runs],
        "groups": [group.model_dump(mode="json") for group in results.groups],
    }


def _details(cases: tuple[Case, ...], closed: Closed) -> Iterator[Iterator[Text]]:
    wrong = [case for case in cases if case.verdict in ("fail", "lab_error")]
    events = story_events(closed.results, [case.gravest for case in wrong if case.verdict == "fail"])
    for case in wrong:
        yield from blocks(case, events.get(case.gravest.run_id, []), closed)


def story_events(results: Results, runs: Sequence[RunRecord]) -> dict[str, list[EventRecord]]:
    """The events of these tries, by run id."""
    told = {run.run_id: run.attempt for run in runs}
    events: dict[str, list[EventRecord]] = {}
    if told:
        spoilt: list[Quarantined] = []
        mine = (e for e in read_events(results, spoilt) if told.get(e.run_id) == e.attempt)
        for run_id, group in groupby(mine, key=lambda event: event.run_id):
            events.setdefault(run_id, []).extend(group)
    return events


def blocks(case: Case, events: list[EventRecord], closed: Closed) -> Iterator[Iterator[Text]]:
    """What is wrong with a case that failed or that the lab ended, in detail. `events` are those of its gravest run."""
    if case.verdict not in ("fail", "lab_error"):
        return
    run = case.gravest
    failed = [finding for finding in case.findings() if finding.judged.fails_run]
    for finding in failed if case.verdict == "fail" else ():
        yield failure(case, finding, breakdown_of(run, finding, events, closed), replay=replay_of(run, closed))
    broken = [shared for shared in case.groups if shared.verdict == "fail"]
    for shared in broken:
        yield group_failure(case, shared, replay=replay_command(run.run_id, closed.results, extent="group"))
    if case.verdict != "fail" or not (failed or broken):
        logs = closed.results.folder.logs_of(run.run_id, run.attempt)
        yield trouble(case, replay=replay_of_case(case, closed), logs=str(logs) if logs.is_dir() else None)


def breakdown_of(run: RunRecord, finding: Finding, events: list[EventRecord], closed: Closed) -> Breakdown | None:
    """Where the time of one run went, beside the formula; None where that is not known, or it is no time."""
    plan = closed.plans[run.run_id]
    expectation = expectation_of(plan, finding.judged)
    if expectation is None or finding.judged.unit != "s":
        return None
    found = where_the_time_went(replace(plan, attempt=run.attempt), story_of(run, events), expectation)
    return found if isinstance(found, Breakdown) else None


def replay_of(run: RunRecord, closed: Closed) -> str:
    """The command that makes this run again."""
    return replay_command(run.run_id, closed.results)


def replay_of_case(case: Case, closed: Closed) -> str:
    """The command that shows again what is wrong with a case: all of its repeats, where only all of them show it."""
    of_one = case.gravest.verdict == case.verdict
    return replay_command(case.gravest.run_id, closed.results, extent="run" if of_one else "group")


def replay_command(run_id: str, results: Results, *, extent: Literal["run", "group"] = "run") -> str:
    """`faultlab replay 7f3a`."""
    folder = results.folder.path
    where = "" if folder.parent == DEFAULT_PARENT else f" --in {quote(str(folder))}"
    group = " --group" if extent == "group" else ""
    return f"faultlab replay {short_id(run_id, results.manifest.run_ids)}{group}{where}"


def _pointers(cases: tuple[Case, ...], closed: Closed) -> Iterator[tuple[str, str]]:
    folder = closed.results.folder.path
    if closed.exit is Exit.INTERRUPTED:
        yield "kept", f"{len(closed.results.runs)} of {len(closed.plans)} runs in {folder}"
        yield "resume", f"faultlab run --resume {quote(str(folder))}"
        return
    wrong = [case for case in cases if case.verdict != "pass"]
    if wrong:
        gravest = min(wrong, key=lambda case: ("fail", "lab_error", "inconclusive", "skipped").index(case.verdict))
        yield "replay", replay_of_case(gravest, closed)
    yield "results", str(folder)
    yield "report", str(closed.page) if closed.page is not None else f"faultlab report {quote(str(folder))}"
