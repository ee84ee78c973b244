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

from cli.errors import CommandError, print_error
from cli.exit_codes import ExitCode
from cli.gate.suites import BASELINE, nothing_selected_error
from cli.show import gate_text as show
from cli.show.formatting import pluralized
from cli.show.gate_ci import annotations, summary
from cli.show.gate_json import gate_document
from cli.show.gate_junit import gate_junit
from cli.show.rows import wrapped
from cli.terminal.console import annotate, append_job_summary
from harness.comparing.cases import SuiteRuns, select_scenarios
from harness.comparing.floor import DEFAULT_FLOOR, Floor, parse_floor
from harness.comparing.shifts import MIN_RUNS
from harness.gating.baseline import merge_into_baseline, write_baseline
from harness.gating.gate import GateResult
from harness.gating.reading import read_suite_runs
from harness.quantities import QuantityError
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_document

Inconclusive = Literal["fail", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """How a gate is answered. `baseline`, `current` (or where `--run` put it), `only` and `floor` are the options as
    they were given, for the commands that are shown; `run`: the current suite was measured for this answer."""

    inconclusive: Inconclusive
    json: bool
    show_all: bool
    baseline: Path | None
    current: Path | None = None
    only: tuple[str, ...] = ()
    floor: str | None = None
    run: bool = False
    interleaved: bool = False
    junit: Path | None = None


def floor_from_option(text: str | None) -> Floor | None:
    """Raises Stop for what is no floor."""
    if text is None:
        return None
    try:
        return parse_floor(text)
    except QuantityError as error:
        raise CommandError(f"--floor: {error.text}", error.hint or "write it as '5% + 20ms'") from error


def report_result(screen: Console, gated: GateResult, options: GateOptions) -> ExitCode:
    """Print the comparison. The exit code: a file that cannot be made is the lab's failure."""
    code, warned = _code(gated, options), _warned(gated, options)
    told = show.told(gated, warned=warned)
    head, pointers = list(show.head(gated, interleaved=options.interleaved)), _pointers(gated, options)
    if options.json:
        click.echo(json.dumps(gate_document(gated, code), indent=2, ensure_ascii=False))
    else:
        for line in (*head, *show.body(gated, show_all=options.show_all)):
            screen.print(line)
    for annotation in annotations(gated, verdict=told):
        annotate(screen, annotation)
    plain = [line.plain for line in head], [line.plain for line in pointers]
    append_job_summary(
        screen, summary(gated, head=show.EXIT_HEADLINES[code][0], verdict=told, proof=plain[0], pointers=plain[1])
    )
    if not options.json:
        for line in (Text(), show.verdict(gated, code, warned=warned), *pointers):
            screen.print(line)
    return _written(gated, options, code, told)


def _written(gated: GateResult, options: GateOptions, code: ExitCode, told: str) -> ExitCode:
    """The exit code, once JUnit XML lies where it was asked for."""
    if options.junit is not None:
        try:
            write_document(options.junit, gate_junit(gated, verdict=told, warned=_warned(gated, options)))
        except ResultsUnwritable as unwritable:
            print_error(f"{unwritable.problem}\n  {unwritable.remedy}")
            return code if code is ExitCode.REGRESSED else ExitCode.LAB_ERROR
    return code


def update_baseline(
    screen: Console, path: Path | None, current: SuiteRuns, only: tuple[str, ...], floor: Floor | None
) -> ExitCode:
    """Write the current suite as the baseline; with `only`, put those cases in the place of the baseline's."""
    target = path or BASELINE
    if target.is_dir():
        raise CommandError(
            f"{target} is a results folder: it is never changed",
            f"name a file: faultlab gate --update --baseline {BASELINE}",
        )
    if current.unfinished:
        raise CommandError(
            f"{current.source} has not ended: {current.unfinished}",
            f"go on with it: faultlab run --resume {shlex.quote(current.source)}",
        )
    taken = select_scenarios(current, only)
    if only and not taken.cases:
        raise nothing_selected_error(current, only)
    if not any(case.counted for case in taken.cases):
        raise CommandError(
            f"no run of {current.source} is conclusive: that is no baseline",
            "run it again",
            code=ExitCode.NOTHING_SELECTED,
        )
    # What is no file (a pipe, /dev/stdout) holds no baseline, and whoever reads it may wait for ever; an empty file is
    # a place that somebody made for one.
    before = read_suite_runs(target) if target.is_file() and target.stat().st_size else None
    whole = merge_into_baseline(before, taken, only) if only and before is not None else taken
    chosen = floor or (before.floor if before is not None else None) or DEFAULT_FLOOR
    write_baseline(target, whole, chosen)
    scenarios = len({case.key.scenario for case in taken.cases})
    screen.print(
        wrapped(
            f"{target}   {pluralized(len(taken.cases), 'case')} of {pluralized(scenarios, 'scenario')}"
            f" from {current.source},"
            f" floor {chosen}",
            lead="",
        )
    )
    _print_dropped_cases(screen, before, whole)
    few = [case for case in taken.cases if case.counted < MIN_RUNS]
    if few:
        screen.print(
            wrapped(
                f"{pluralized(len(few), 'case')} with fewer than {MIN_RUNS} conclusive runs can only be unsure:"
                f" faultlab run --repeat 20",
                lead="",
                style="yellow",
            )
        )
    return ExitCode.PASSED


def _print_dropped_cases(screen: Console, before: SuiteRuns | None, whole: SuiteRuns) -> None:
    """A suite of which only a part was run takes the place of all: nobody would notice what is held no more."""
    kept = {case.key for case in whole.cases}
    gone = [case.key for case in before.cases if case.key not in kept] if before is not None else []
    if gone:
        names = ", ".join(sorted({name.scenario for name in gone}))
        told = f"{pluralized(len(gone), 'case')} of the old baseline left, since the suite did not run them: {names}"
        screen.print(wrapped(f"{told} (--only NAME replaces a part)", lead="", style="yellow"))


def _code(gated: GateResult, options: GateOptions) -> ExitCode:
    if gated.other_machine:
        return ExitCode.INCONCLUSIVE
    if not gated.compared and not gated.silent:
        return ExitCode.NOTHING_SELECTED
    if gated.regressed:
        return ExitCode.REGRESSED
    if gated.inconclusive and not _warned(gated, options):
        return ExitCode.INCONCLUSIVE
    return ExitCode.PASSED


def _warned(gated: GateResult, options: GateOptions) -> bool:
    """Whether the user lets it pass. Where nothing was compared there is nothing to let pass."""
    return options.inconclusive == "warn" and gated.inconclusive and not gated.regressed and bool(gated.compared)


def _pointers(gated: GateResult, options: GateOptions) -> list[Text]:
    of = (
        ""
        if options.baseline is None or options.baseline == BASELINE
        else f" --baseline {shlex.quote(str(options.baseline))}"
    )
    wanted = show.scenarios_to_rerun(gated)
    told: list[Text] = []
    if options.interleaved or not gated.baseline.cases:
        return told
    if wanted:
        few = len(wanted) <= show.MAX_NAMED_SCENARIOS
        floor = "" if options.floor is None else f" --floor {shlex.quote(options.floor)}"
        told.append(Text(f"repeat      faultlab gate --run{of}{floor}{_only(wanted if few else options.only)}"))
    file = "" if options.baseline is None or options.baseline.is_dir() else of
    if gated.other_machine and (options.run or options.only):
        # Nothing was measured, or a part: neither can take the place of another machine's suite.
        told.append(Text(f"accept      faultlab run --repeat 20, then faultlab gate --update{file}"))
    elif (gated.regressed or gated.other_machine or gated.new) and gated.current.cases and not gated.current.unfinished:
        # What was held is what is written: the newest results may be others, and a part must not replace the whole.
        current = "" if options.current is None else f" --current {shlex.quote(str(options.current))}"
        told.append(Text(f"accept      faultlab gate --update{file}{current}{_only(options.only)}"))
    return told


def _only(names: Sequence[str]) -> str:
    return "".join(f" --only {shlex.quote(name)}" for name in names)
