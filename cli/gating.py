"""What `faultlab gate` and `compare` do around the comparison: which two suites, run again or read, and the answer."""

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.text import Text

from cli.console import annotate, grouped, summarise
from cli.errors import Stop, say_error
from cli.exits import Exit
from cli.places import RESULTS
from cli.request import Request, parameters_of
from cli.session import Manner, begin
from cli.show import gated as show
from cli.show.figures import many
from cli.show.gated_junit import gated_junit
from cli.show.gated_log import annotations, summary
from cli.show.rows import folded
from cli.show.shifted import change, figures, label
from harness.gating.baseline import merged, write_baseline
from harness.gating.cases import CaseName, Side
from harness.gating.changes import Change
from harness.gating.comparison import Gated, elsewhere, selected
from harness.gating.floor import DEFAULT, Floor, parse_floor
from harness.gating.judging import Judged
from harness.gating.shifts import LEAST, MOST_RUNS
from harness.gating.side_by_side import SideBySide
from harness.gating.sides import read_side
from harness.quantities import QuantityError
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_document
from harness.records.reader import folders
from harness.suite.machine import machine, stamp

BASELINE = Path("faultlab-baseline.json")
FORMAT = 1
Inconclusive = Literal["fail", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a gate is answered. `baseline` is the option as it was given, for the commands that are shown."""

    inconclusive: Inconclusive
    json: bool
    everything: bool
    baseline: Path | None
    interleaved: bool = False
    junit: Path | None = None


def floor_of(text: str | None) -> Floor | None:
    """Raises Stop for what is no floor."""
    if text is None:
        return None
    try:
        return parse_floor(text)
    except QuantityError as error:
        raise Stop(f"--floor: {error.text}", error.hint or "write it as '5% + 20ms'") from error


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
    there = folders(RESULTS)
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
    folder = out or free_folder()
    # Only the comparison may stand in a JSON document on stdout: the run speaks beside it. And only the comparison is
    # annotated: what fails now as it failed then is no news here.
    manner = Manner(json=False, everything=False, cells=None, report=False, ci=ci, quoted=ci)
    with grouped(screen, "the runs"), contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext():
        code = begin(request, folder, manner)
    if code is Exit.INTERRUPTED or not (folder / "manifest.json").is_file():
        return code
    return read_side(folder)


def answer(screen: Console, gated: Gated, how: Answer) -> Exit:
    """Print the comparison. The exit code: a file that cannot be made is the lab's failure."""
    code, warned = _code(gated, how), _warned(gated, how)
    told = show.told(gated, warned=warned)
    head, pointers = list(show.head(gated, interleaved=how.interleaved)), _pointers(gated, how)
    if how.json:
        click.echo(_json(document(gated, code)))
    else:
        for line in (*head, *show.body(gated, everything=how.everything)):
            screen.print(line)
    for annotation in annotations(gated, verdict=told):
        annotate(screen, annotation)
    plain = [line.plain for line in head], [line.plain for line in pointers]
    summarise(screen, summary(gated, head=show.HEADS[code][0], verdict=told, proof=plain[0], pointers=plain[1]))
    if not how.json:
        for line in (Text(), show.verdict(gated, code, warned=warned), *pointers):
            screen.print(line)
    return _written(gated, how, code, told)


def _written(gated: Gated, how: Answer, code: Exit, told: str) -> Exit:
    """The exit code, once JUnit XML lies where it was asked for."""
    if how.junit is not None:
        try:
            write_document(how.junit, gated_junit(gated, verdict=told, warned=_warned(gated, how)))
        except ResultsUnwritable as unwritable:
            say_error(f"{unwritable.problem}\n  {unwritable.remedy}")
            return code if code is Exit.REGRESSED else Exit.LAB
    return code


def update(screen: Console, path: Path | None, current: Side, only: tuple[str, ...], floor: Floor | None) -> Exit:
    """Write the current suite as the baseline; with `only`, put those cases in the place of the baseline's."""
    target = path or BASELINE
    if target.is_dir():
        raise Stop(
            f"{target} is a results folder: it is never changed",
            f"name a file: faultlab gate --update --baseline {BASELINE}",
        )
    if current.unfinished:
        raise Stop(
            f"{current.source} has not ended: {current.unfinished}",
            f"go on with it: faultlab run --resume {current.source}",
        )
    taken = selected(current, only)
    if only and not taken.cases:
        raise nothing_selected(current, only)
    if not any(case.counted for case in taken.cases):
        raise Stop(f"no run of {current.source} is conclusive: that is no baseline", "run it again", code=Exit.NOTHING)
    before = read_side(target) if target.exists() else None
    whole = merged(before, taken, only) if only and before is not None else taken
    chosen = floor or (before.floor if before is not None else None) or DEFAULT
    write_baseline(target, whole, chosen)
    scenarios = len({case.name.scenario for case in taken.cases})
    screen.print(
        folded(
            f"{target}   {many(len(taken.cases), 'case')} of {many(scenarios, 'scenario')} from {current.source},"
            f" floor {chosen}",
            lead="",
        )
    )
    few = [case for case in taken.cases if case.counted < LEAST]
    if few:
        screen.print(
            folded(
                f"{many(len(few), 'case')} with fewer than {LEAST} conclusive runs can only be unsure:"
                f" faultlab run --repeat 20",
                lead="",
                style="yellow",
            )
        )
    return Exit.PASSED


def document(gated: Gated, code: Exit) -> dict[str, Any]:
    """The comparison as JSON values."""
    findings = [
        {"kind": said, **_name(one.name), "leading": _judged(one.judged[0]) if one.judged else None,
         "also": [_judged(other) for other in one.all_of(said)[1:]], "where": list(one.where)}
        for said in ("regression", "unsure", "better")
        for one in gated.that(said)
    ]  # fmt: skip
    return {
        "format": FORMAT,
        "verdict": show.HEADS[code][0].lower(),
        "exit_code": int(code),
        "baseline": gated.baseline.source,
        "current": gated.current.source,
        "other_machine": gated.other_machine,
        "floor": str(gated.floor),
        "expected": gated.expected,
        "compared": len(gated.compared),
        "unchanged": len(gated.that("unchanged")),
        "findings": findings,
        "lost": [_name(case.name) for case in gated.lost],
        "silent": [_name(one.name) | {"reasons": list(one.spoilt.reasons)} for one in gated.silent],
        "new": [_name(case.name) for case in gated.new],
        "set_aside": [*gated.baseline.set_aside, *gated.current.set_aside],
    }


def compared_document(found: SideBySide) -> dict[str, Any]:
    """Two suites beside each other as JSON values."""
    return {
        "format": FORMAT,
        "first": found.first.source,
        "second": found.second.source,
        "other_machine": found.other_machine,
        "differing": [
            {
                "first": _name(one.first.name),
                "second": _name(one.second.name),
                "shifts": [asdict(shift) for shift in one.shifts],
                "happenings": [_happening(change) for change in one.changes],
                "settings": list(one.settings),
            }
            for one in found.differing
        ],
        "same": [_name(one.first.name) for one in found.both if not one.differs],
        "only_first": [_name(case.name) for case in found.only_first],
        "only_second": [_name(case.name) for case in found.only_second],
        "silent": [_name(one.name) for one, _ in found.silent],
    }


def free_folder() -> Path:
    """results/<time>-gate, with a number where several begin in one minute."""
    first = RESULTS / f"{stamp()}-gate"
    folder, number = first, 2
    while folder.exists():
        folder = first.with_name(f"{first.name}-{number}")
        number += 1
    return folder


def _code(gated: Gated, how: Answer) -> Exit:
    if gated.other_machine:
        return Exit.INCONCLUSIVE
    if not gated.compared and not gated.silent:
        return Exit.NOTHING
    if gated.regressed:
        return Exit.REGRESSED
    if gated.inconclusive and not _warned(gated, how):
        return Exit.INCONCLUSIVE
    return Exit.PASSED


def _warned(gated: Gated, how: Answer) -> bool:
    """Whether the user lets it pass. Where nothing was compared there is nothing to let pass."""
    return how.inconclusive == "warn" and gated.inconclusive and not gated.regressed and bool(gated.compared)


def _pointers(gated: Gated, how: Answer) -> list[Text]:
    of = "" if how.baseline is None or how.baseline == BASELINE else f" --baseline {shlex.quote(str(how.baseline))}"
    wanted = show.scenarios_of(gated)
    told: list[Text] = []
    if how.interleaved or not gated.baseline.cases:
        return told
    if wanted:
        names = "".join(f" --only {name}" for name in wanted) if len(wanted) <= show.MOST_NAMED else ""
        told.append(Text(f"repeat      faultlab gate --run{of}{names}"))
    if gated.regressed or gated.other_machine or gated.new:
        file = "" if how.baseline is None or how.baseline.is_dir() else of
        told.append(Text(f"accept      faultlab gate --update{file}"))
    return told


def _request_of(baseline: Side) -> Request:
    """The command that made it. Paths are relative to the folder in which it was given, of a file to this one."""
    if Path(baseline.source).is_dir():
        from harness.records.reader import read

        return Request.again(read(Path(baseline.source)).manifest)
    if not baseline.arguments:
        raise Stop(
            f"{baseline.source} does not say which suite it was made of", "write it anew: faultlab gate --update"
        )
    try:
        return Request.of(parameters_of(baseline.arguments), Path.cwd())
    except click.UsageError as error:
        raise Stop(
            f"{baseline.source}: `faultlab run` does not take its arguments: {error.format_message()}",
            "undo the change to it, or write it anew: faultlab gate --update",
        ) from error


def nothing_selected(baseline: Side, only: Sequence[str]) -> Stop:
    """What ends a command whose `--only` leaves nothing of a side, or that has nothing in any case."""
    names = ", ".join(sorted({case.name.scenario for case in baseline.cases})) or "none"
    asked = f"no scenario of {baseline.source} is called {' or '.join(only)}" if only else f"{baseline.source} is empty"
    return Stop(f"{asked}: nothing to compare", f"its scenarios: {names}", code=Exit.NOTHING)


def _name(name: CaseName) -> dict[str, Any]:
    return {**name._asdict(), "parameters": dict(name.parameters)}


def _judged(one: Judged) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": label(one), "rate": one.rate, "needed": one.needed}
    if isinstance(one.of, Change):
        return told | {"text": change(one.of)} | _happening(one.of)
    return told | {"text": figures(one.of)} | asdict(one.of)


def _happening(one: Change) -> dict[str, Any]:
    return {
        "happening": str(one.happening), "before": one.before, "of_before": one.of_before, "now": one.now,
        "of_now": one.of_now,
    }  # fmt: skip


def _json(value: dict[str, Any]) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)
