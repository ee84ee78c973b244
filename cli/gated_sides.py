"""The two sides that `faultlab gate` and `compare` hold against each other: read where the user says, or run anew."""

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from cli.console import grouped
from cli.errors import Stop
from cli.exits import Exit
from cli.places import RESULTS, free_folder, newest_first
from cli.request import Request, parameters_of
from cli.session import Manner, begin
from cli.show.figures import many
from harness.gating.cases import Side
from harness.gating.comparison import elsewhere, selected
from harness.gating.shifts import MOST_RUNS
from harness.gating.sides import read_side
from harness.records.folder import MANIFEST
from harness.records.reader import folders
from harness.suite.machine import machine, stamp

BASELINE = Path("faultlab-baseline.json")
SUGGESTED = 3
"""So many folders are named to one who named what holds them."""


def baseline_side(path: Path | None) -> Side:
    """The one named, or that of BASELINE. Raises Stop where there is none."""
    if path is None and not BASELINE.exists():
        raise Stop(
            f"there is no baseline: {BASELINE} does not exist",
            "make one of the newest results (faultlab run --repeat 20, then faultlab gate --update), or name one with"
            " --baseline",
        )
    return side_at(path or BASELINE)


def current_side(path: Path | None) -> Side:
    """The one named, or that of the newest results. Raises Stop where there are none."""
    if path is not None:
        return side_at(path)
    there = newest_first()
    if not there and RESULTS.is_dir() and not os.access(RESULTS, os.R_OK | os.X_OK):
        raise Stop(f"cannot read {RESULTS}/: Permission denied", f"allow it: chmod u+rX {RESULTS}")
    if not there:
        raise Stop(
            f"there are no results in {RESULTS}/: nothing to compare",
            "run a suite first, or name its folder with --current",
            code=Exit.NOTHING,
        )
    return read_side(there[0])


def side_at(path: Path) -> Side:
    """What the user named as one side. Raises Stop for a folder in which nothing is, ResultsUnreadable."""
    if path.is_dir() and os.access(path, os.R_OK) and not any(path.iterdir()):
        raise Stop(f"{path} is empty: nothing to compare", "name a folder that `faultlab run` made", code=Exit.NOTHING)
    below = [] if os.access(path / MANIFEST, os.F_OK) else folders(path)
    if below:
        names = ", ".join(str(folder) for folder in below[:SUGGESTED])
        more = f" and {len(below) - SUGGESTED} more" if len(below) > SUGGESTED else ""
        raise Stop(
            f"{path} is no results folder: it holds {many(len(below), 'results folder')}",
            f"name one of them, the newest first: {names}{more}",
        )
    return read_side(path)


def run_again(
    screen: Console, baseline: Side, only: Sequence[str], repeat: int | None, out: Path | None, *, json: bool, ci: bool
) -> Side | Exit:
    """Run the baseline's suite now into `out`, as often as it was run then, and read what it left; an exit code where
    it could not be run. Nothing is run where another machine's times would be compared with this one's."""
    wanted = selected(baseline, only)
    if not wanted.cases:
        raise nothing_selected(baseline, only)
    here = machine()
    if elsewhere(baseline, replace(baseline, machine=here)):
        return replace(wanted, source="now", machine=here, cases=())
    request = _request_of(baseline)
    if only:
        request = replace(request, selection=replace(request.selection, only=tuple(only)))
    request = replace(request, repeat=repeat or min(MOST_RUNS, max(case.runs for case in wanted.cases)))
    folder = out or free_folder(f"{stamp()}-gate")
    # Only the comparison may stand in a JSON document on stdout: the run speaks beside it. And only the comparison is
    # annotated: what fails now as it failed then is no news here.
    manner = Manner(json=False, everything=False, cells=None, report=False, ci=ci, quoted=ci)
    with grouped(screen, "the runs"), contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext():
        code = begin(request, folder, manner)
    if code is Exit.INTERRUPTED or not (folder / "manifest.json").is_file():
        return code
    return read_side(folder)


def nothing_selected(baseline: Side, only: Sequence[str]) -> Stop:
    """What ends a command whose `--only` leaves nothing of a side, or that has nothing in any case."""
    names = ", ".join(sorted({case.name.scenario for case in baseline.cases})) or "none"
    asked = f"no scenario of {baseline.source} is called {' or '.join(only)}" if only else f"{baseline.source} is empty"
    return Stop(f"{asked}: nothing to compare", f"its scenarios: {names}", code=Exit.NOTHING)


def _request_of(baseline: Side) -> Request:
    """The command that made it. Paths are relative to the folder in which it was given, of a file to this one."""
    if Path(baseline.source).is_dir():
        from harness.records.reader import read

        return Request.again(read(Path(baseline.source)).manifest)
    anew = f"faultlab gate --update --baseline {shlex.quote(baseline.source)}"
    if not baseline.arguments:
        raise Stop(
            f"{baseline.source} does not say which suite it was made of",
            f"write it anew: {anew}",
        )
    try:
        return Request.of(parameters_of(baseline.arguments), Path.cwd())
    except click.UsageError as error:
        raise Stop(
            f"{baseline.source}: `faultlab run` does not take its arguments: {error.format_message()}",
            f"undo the change to it, or write it anew: {anew}",
        ) from error
