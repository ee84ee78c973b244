"""One suite from its request to its exit code: planned, run under a display, read back from its folder, and shown."""

import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.text import Text

from cli.ci import Annotation
from cli.errors import CommandError
from cli.exit_codes import ExitCode, exit_code_of
from cli.show import groups
from cli.show.formatting import pluralized, seconds
from cli.show.live import Display
from cli.show.rows import wrapped
from cli.suite.case_documents import case_documents
from cli.suite.closing import show, suite_document
from cli.suite.finished import FinishedSuite, replay_command
from cli.suite.json_lines import JsonLineStream
from cli.suite.kept_events import EventKeeper
from cli.suite.manifest import new_manifest
from cli.suite.options import RunOptions
from cli.suite.prepared import PreparedSuite, prepare
from cli.suite.request import Request
from cli.suite.results_folders import unused_results_folder
from cli.terminal.console import annotate, log_group
from harness.judging import judge
from harness.judging.statistic import applies
from harness.plan import RunPlan
from harness.records.reader import Results, read
from harness.records.run import RunRecord
from harness.records.writer import Writer
from harness.suite.grouping import judge_groups
from harness.suite.machine import timestamp_name
from harness.suite.progress import max_duration_s
from harness.suite.resuming import Remaining, planned, plans_with_id_prefix, remaining
from harness.suite.runner import Observer, Runner, RunWriter


def start_suite(request: Request, out: Path | None, options: RunOptions) -> ExitCode:
    """A new suite."""
    started = time.monotonic()
    with ExitStack() as stack:
        prepared = prepare(request, options, stack)
        if isinstance(prepared, ExitCode):
            return prepared
        return _run_new_suite(request, prepared, prepared.suite.plans, out, options, started)


def resume_suite(folder: Path, options: RunOptions) -> ExitCode:
    """The rest of an interrupted suite, in its own folder."""
    started = time.monotonic()
    with ExitStack() as stack:
        writer, results = Writer.reopen(folder)
        stack.callback(writer.close)
        prepared = prepare(Request.from_manifest(results.manifest), options, stack)
        if isinstance(prepared, ExitCode):
            return prepared
        plans = planned(results, prepared.suite.plans)
        left = remaining(results, plans)
        writer.cut_unfinished(results)
        ids = {plan.run_id for plan in (*left.unknown, *left.noisy)}
        previous_runs = [run for run in results.runs if run.run_id not in ids]
        screen = options.screen()
        screen.print(f"resuming {folder}: {len(previous_runs)} of {pluralized(len(plans), 'run')} were measured before")
        return _run_plans(prepared, left, plans, previous_runs, writer, screen, options, started)


def replay_suite(
    results: Results, prefix: str, out: Path | None, options: RunOptions, *, scope: Literal["run", "group"] = "run"
) -> ExitCode:
    """The one run of a suite whose id begins with `prefix`, or all repeats of its case, in a new folder."""
    started = time.monotonic()
    request = Request.from_manifest(results.manifest)
    with ExitStack() as stack:
        prepared = prepare(request, options, stack)
        if isinstance(prepared, ExitCode):
            return prepared
        plans = _replayed(results, prepared.suite.plans, prefix, options, scope)
        return _run_new_suite(request, prepared, plans, out, options, started)


def _replayed(
    results: Results, plans: Sequence[RunPlan], prefix: str, options: RunOptions, scope: Literal["run", "group"]
) -> tuple[RunPlan, ...]:
    """The plans of the one run, or of all repeats of its case. Raises CommandError where there is not exactly one."""
    planned = [run_id for run_id in results.manifest.run_ids if run_id.startswith(prefix.lower())]
    found = plans_with_id_prefix(plans, planned[0] if len(planned) == 1 else prefix)
    if len(found) != 1:
        if len(found) > 1:
            raise CommandError(
                f"{pluralized(len(found), 'run')} begin with {prefix}: {', '.join(p.run_id for p in found)}"
            )
        scenario = next((run.scenario for run in results.runs if run.run_id in planned), "its scenario")
        raise CommandError(
            f"run {planned[0]} of {results.folder.path} no longer exists: {scenario} has changed since",
            "undo the change, or run the scenario as it is now with faultlab run",
        )
    (one,) = found
    repeats = tuple(plan for plan in plans if plan.case_key == one.case_key)
    if scope == "group":
        return repeats
    over_all = [groups.called(statistic) for statistic in one.statistics if applies(one, statistic)]
    if over_all and len(repeats) > 1:
        options.screen().print(
            _note_on_repeats(over_all, len(repeats), replay_command(one.run_id, results, scope="group"))
        )
    return found


def _note_on_repeats(statistics: Sequence[str], repeats: int, command: str) -> Text:
    """What a single run does not show, and the command that does."""
    what, verb = (statistics[0], "is") if len(statistics) == 1 else (", ".join(statistics), "are")
    return wrapped(
        f"{what} {verb} judged over all {repeats} repeats, not over one run; run them all: {command}",
        lead="", style="yellow",
    )  # fmt: skip


def _run_new_suite(
    request: Request,
    prepared: PreparedSuite,
    plans: Sequence[RunPlan],
    out: Path | None,
    options: RunOptions,
    started: float,
) -> ExitCode:
    folder = out if out is not None else unused_results_folder(timestamp_name())
    chosen = replace(request, environment=prepared.environment.name)
    manifest = new_manifest(
        folder.name, plans, environment=chosen.environment, seed=request.seed, arguments=chosen.arguments(),
        folder=request.folder,
    )  # fmt: skip
    writer = Writer.create(folder, manifest)
    return _run_plans(prepared, Remaining(tuple(plans)), plans, (), writer, options.screen(), options, started)


def _run_plans(
    prepared: PreparedSuite,
    remains: Remaining,
    plans: Sequence[RunPlan],
    previous_runs: Sequence[RunRecord],
    writer: Writer,
    screen: Console,
    options: RunOptions,
    started: float,
) -> ExitCode:
    environment = prepared.environment
    left = (*remains.unknown, *remains.noisy)
    lanes = min(environment.lanes, options.cells or environment.lanes)
    for line in _head(prepared, plans, left, lanes=lanes, seed=writer.manifest.seed):
        screen.print(line)
    if prepared.local_unavailable is not None:
        why = f"{prepared.local_unavailable.reason}; {prepared.local_unavailable.remedy}"
        annotate(screen, Annotation(level="warning", title="sim-instead-of-local", message=why))
    stream = JsonLineStream(sys.stdout) if options.stream else None
    if stream is not None:
        stream.line("begun", {"environment": environment.name, "note": prepared.note, "runs": len(left)})
    with (
        prepared.opened,
        writer,
        log_group(screen, "the runs"),
        Display(screen, left, lanes=lanes, previous_runs=previous_runs) as display,
    ):
        observer: Observer = display
        run_writer: RunWriter = writer
        if stream is not None:
            run_writer = events = EventKeeper(writer)
            observer = stream.observer_for(display, writer, events, plans, prepared.suite.plans, previous_runs)
        runner = Runner(environment, judge, run_writer, observer, lanes=lanes)
        complete = runner.run(remains.unknown, retries=remains.noisy)
        results = read(writer.folder.path)
        interrupted = not complete and any(remaining(results, plans))
        if not interrupted:
            groups = judge_groups(prepared.suite.plans, results.runs)
            writer.write_groups(groups)
            results = replace(results, groups=groups)
    verdicts = [run.verdict for run in results.runs]
    verdicts += [group.verdict for group in results.groups if group.verdict != "skipped"]
    code = ExitCode.INTERRUPTED if interrupted else exit_code_of(verdicts)
    finished = FinishedSuite(
        results=results, plans={plan.run_id: plan for plan in plans}, elapsed_s=time.monotonic() - started, exit=code
    )
    code = show(
        screen, finished, show_all=options.show_all, report=options.report and not interrupted,
        junit=options.junit_files(writer.folder.path),
    )  # fmt: skip
    if options.json:
        document = suite_document(finished, code, case_documents(finished))
        if stream is not None:
            stream.line("suite", document)
        else:
            sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return code


def _head(
    prepared: PreparedSuite, plans: Sequence[RunPlan], left: Sequence[RunPlan], *, lanes: int, seed: int
) -> list[Text]:
    """What is about to run, in two lines, and why it is not what a user may expect."""
    lines: list[Text] = []
    environment, suite = prepared.environment, prepared.suite
    if prepared.note is not None:
        lines.append(wrapped(prepared.note, lead="", style="yellow"))
    scenarios = len({plan.scenario for plan in plans})
    lines.append(
        Text(
            f"{pluralized(scenarios, 'scenario')}, {pluralized(len(plans), 'run')}, {environment.name}, "
            f"{pluralized(lanes, 'cell')}, seed {seed}"
        )
    )
    lengths = [plan.expected_s for plan in left]
    longest = max((plan.predicted_s for plan in left if plan.predicted_s is not None), default=None)
    keeps = "Ctrl-C keeps what was measured"
    if environment.virtual_time or longest is None:
        lines.append(Text(keeps if longest is None else f"longest {seconds(longest)} by formula, simulated; {keeps}"))
    else:
        bound = max_duration_s(lengths, lanes=lanes)
        most = "" if bound is None else f", at most {seconds(bound)}"
        lines.append(Text(f"longest {seconds(longest)} by formula{most}; {keeps}"))
    if suite.skipped_slow:
        names = ", ".join(suite.skipped_slow)
        lines.append(wrapped(f"left out as slow: {names} (--tag slow)", lead="", style="dim"))
    lines.append(Text())
    return lines
