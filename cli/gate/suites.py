"""The two sides that `faultlab gate` and `compare` compare: read from where the user says, or run now."""

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.suite.options import RunOptions
from cli.suite.request import Request, parse_run_arguments
from cli.suite.results_folders import RESULTS, suites_newest_first, unused_results_folder
from cli.suite.session import start_suite
from cli.terminal.console import log_group
from harness.comparing.cases import SuiteRuns, different_machines, select_scenarios
from harness.comparing.shifts import MAX_RUNS
from harness.gating.reading import read_suite_runs
from harness.records.folder import MANIFEST
from harness.records.reader import folders
from harness.suite.machine import machine, timestamp_name

BASELINE = Path("faultlab-baseline.json")
MAX_SUGGESTIONS = 3
"""How many folders are suggested where the user named their parent."""


def load_baseline(path: Path | None) -> SuiteRuns:
    """The one named, or that of BASELINE. Raises CommandError where there is none."""
    named = path or BASELINE
    if not named.exists():
        update = "faultlab gate --update" + ("" if path is None else f" --baseline {shlex.quote(str(path))}")
        raise CommandError(
            f"there is no baseline: {named} does not exist",
            f"make one of the newest results (faultlab run --repeat 20, then {update}), or name "
            + ("one with --baseline" if path is None else "another"),
        )
    return load_suite(named)


def load_current(path: Path | None) -> SuiteRuns:
    """The one named, or that of the newest results. Raises CommandError where there are none."""
    if path is not None:
        return load_suite(path)
    there = suites_newest_first()
    if not there and RESULTS.is_dir() and not os.access(RESULTS, os.R_OK | os.X_OK):
        raise CommandError(f"cannot read {RESULTS}/: Permission denied", f"allow it: chmod u+rX {RESULTS}")
    if not there:
        raise CommandError(
            f"there are no results in {RESULTS}/: nothing to compare",
            "run a suite first, or name its folder with --current",
            code=ExitCode.NOTHING_SELECTED,
        )
    return read_suite_runs(there[0])


def load_suite(path: Path) -> SuiteRuns:
    """What the user named as one side. Raises CommandError for an empty folder, ResultsUnreadable."""
    if path.is_dir() and os.access(path, os.R_OK) and not any(path.iterdir()):
        raise CommandError(
            f"{path} is empty: nothing to compare",
            "name a folder that `faultlab run` made",
            code=ExitCode.NOTHING_SELECTED,
        )
    below = [] if os.access(path / MANIFEST, os.F_OK) else folders(path)
    if below:
        names = ", ".join(str(folder) for folder in below[:MAX_SUGGESTIONS])
        more = f" and {len(below) - MAX_SUGGESTIONS} more" if len(below) > MAX_SUGGESTIONS else ""
        raise CommandError(
            f"{path} is no results folder: it holds {pluralized(len(below), 'results folder')}",
            f"name one of them, the newest first: {names}{more}",
        )
    return read_suite_runs(path)


def rerun_baseline_suite(
    screen: Console,
    baseline: SuiteRuns,
    only: Sequence[str],
    repeat: int | None,
    out: Path | None,
    *,
    json: bool,
    ci: bool,
) -> SuiteRuns | ExitCode:
    """Run the baseline's suite now into `out`, as often as it was run then, and read what it left; an exit code where
    it could not be run. Nothing is run where another machine's times would be compared with this one's."""
    wanted = select_scenarios(baseline, only)
    if not wanted.cases:
        raise nothing_selected_error(baseline, only)
    here = machine()
    if different_machines(baseline, replace(baseline, machine=here)):
        return replace(wanted, source="now", machine=here, cases=())
    request = _request_of(baseline)
    if only:
        request = replace(request, selection=replace(request.selection, only=tuple(only)))
    request = replace(request, repeat=repeat or min(MAX_RUNS, max(case.runs for case in wanted.cases)))
    folder = out or unused_results_folder(f"{timestamp_name()}-gate")
    # With --json, stdout holds only the comparison, so the run prints to stderr. Only the comparison is annotated: a
    # failure that the baseline has too is no regression.
    options = RunOptions(json=False, show_all=False, cells=None, report=False, ci=ci, quoted=ci)
    with log_group(screen, "the runs"), contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext():
        code = start_suite(request, folder, options)
    if code is ExitCode.INTERRUPTED or not (folder / "manifest.json").is_file():
        return code
    return read_suite_runs(folder)


def nothing_selected_error(baseline: SuiteRuns, only: Sequence[str]) -> CommandError:
    """The error of a side that is empty, or of which `--only` leaves nothing."""
    names = ", ".join(sorted({case.key.scenario for case in baseline.cases})) or "none"
    asked = f"no scenario of {baseline.source} is called {' or '.join(only)}" if only else f"{baseline.source} is empty"
    return CommandError(f"{asked}: nothing to compare", f"its scenarios: {names}", code=ExitCode.NOTHING_SELECTED)


def _request_of(baseline: SuiteRuns) -> Request:
    """The command that made it. Paths are relative to the folder in which it was given, of a file to this one."""
    if Path(baseline.source).is_dir():
        from harness.records.reader import read

        return Request.from_manifest(read(Path(baseline.source)).manifest)
    again = f"faultlab gate --update --baseline {shlex.quote(baseline.source)}"
    if not baseline.arguments:
        raise CommandError(
            f"{baseline.source} does not say which suite it was made of",
            f"write it again: {again}",
        )
    try:
        return Request.of(parse_run_arguments(baseline.arguments), Path.cwd())
    except click.UsageError as error:
        raise CommandError(
            f"{baseline.source}: `faultlab run` does not take its arguments: {error.format_message()}",
            f"undo the change to it, or write it again: {again}",
        ) from error
