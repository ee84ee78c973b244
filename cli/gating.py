"""What `faultlab gate` answers: a comparison printed, written and turned into an exit code, or a new baseline."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.text import Text

from cli.console import annotate, summarise
from cli.errors import Stop, say_error
from cli.exits import Exit
from cli.gated_sides import BASELINE, nothing_selected
from cli.show import gated as show
from cli.show.figures import many
from cli.show.gated_json import gated_document
from cli.show.gated_junit import gated_junit
from cli.show.gated_log import annotations, summary
from cli.show.rows import folded
from harness.gating.baseline import merged, write_baseline
from harness.gating.cases import Side
from harness.gating.comparison import Gated, selected
from harness.gating.floor import DEFAULT, Floor, parse_floor
from harness.gating.shifts import LEAST
from harness.gating.sides import read_side
from harness.quantities import QuantityError
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_document

Inconclusive = Literal["fail", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a gate is answered. `baseline`, `current` (or where `--run` put it), `only` and `floor` are the options as
    they were given, for the commands that are shown; `run`: the current suite was measured for this answer."""

    inconclusive: Inconclusive
    json: bool
    everything: bool
    baseline: Path | None
    current: Path | None = None
    only: tuple[str, ...] = ()
    floor: str | None = None
    run: bool = False
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


def answer(screen: Console, gated: Gated, how: Answer) -> Exit:
    """Print the comparison. The exit code: a file that cannot be made is the lab's failure."""
    code, warned = _code(gated, how), _warned(gated, how)
    told = show.told(gated, warned=warned)
    head, pointers = list(show.head(gated, interleaved=how.interleaved)), _pointers(gated, how)
    if how.json:
        click.echo(json.dumps(gated_document(gated, code), indent=2, ensure_ascii=False))
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
            f"go on with it: faultlab run --resume {shlex.quote(current.source)}",
        )
    taken = selected(current, only)
    if only and not taken.cases:
        raise nothing_selected(current, only)
    if not any(case.counted for case in taken.cases):
        raise Stop(f"no run of {current.source} is conclusive: that is no baseline", "run it again", code=Exit.NOTHING)
    # What is no file (a pipe, /dev/stdout) holds no baseline, and whoever reads it may wait for ever; an empty file is
    # a place that somebody made for one.
    before = read_side(target) if target.is_file() and target.stat().st_size else None
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
    _say_what_left(screen, before, whole)
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


def _say_what_left(screen: Console, before: Side | None, whole: Side) -> None:
    """A suite of which only a part was run takes the place of all: nobody would notice what is held no more."""
    kept = {case.name for case in whole.cases}
    gone = [case.name for case in before.cases if case.name not in kept] if before is not None else []
    if gone:
        names = ", ".join(sorted({name.scenario for name in gone}))
        told = f"{many(len(gone), 'case')} of the old baseline left, since the suite did not run them: {names}"
        screen.print(folded(f"{told} (--only NAME replaces a part)", lead="", style="yellow"))


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
        few = len(wanted) <= show.MOST_NAMED
        floor = "" if how.floor is None else f" --floor {shlex.quote(how.floor)}"
        told.append(Text(f"repeat      faultlab gate --run{of}{floor}{_only(wanted if few else how.only)}"))
    file = "" if how.baseline is None or how.baseline.is_dir() else of
    if gated.other_machine and (how.run or how.only):
        # Nothing was measured, or a part: neither can take the place of another machine's suite.
        told.append(Text(f"accept      faultlab run --repeat 20, then faultlab gate --update{file}"))
    elif (gated.regressed or gated.other_machine or gated.new) and gated.current.cases and not gated.current.unfinished:
        # What was held is what is written: the newest results may be others, and a part must not replace the whole.
        current = "" if how.current is None else f" --current {shlex.quote(str(how.current))}"
        told.append(Text(f"accept      faultlab gate --update{file}{current}{_only(how.only)}"))
    return told


def _only(names: Sequence[str]) -> str:
    return "".join(f" --only {shlex.quote(name)}" for name in names)
