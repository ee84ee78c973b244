"""What `faultlab gate` answers: a comparison, printed, written as JUnit XML, and turned into an exit code."""

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
from cli.gate.suites import BASELINE
from cli.show import gate_text
from cli.show.gate_ci import annotations, summary
from cli.show.gate_json import gate_document
from cli.show.gate_junit import gate_suites
from cli.terminal.console import annotate, append_job_summary, columns_of
from harness.comparing.floor import Floor, parse_floor
from harness.gating.gate import GateResult
from harness.quantities import QuantityError
from harness.records.folder import ResultsUnwritable
from harness.records.junit import write_document

Inconclusive = Literal["fail", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """How the answer of a gate is given.

    `baseline`, `current` (or where `--run` put it), `only` and `floor` are the options as they were given, for the
    commands that are shown; `run`: the current suite was measured for this answer.
    """

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
    """Raises CommandError for a text that is not a floor."""
    if text is None:
        return None
    try:
        return parse_floor(text)
    except QuantityError as error:
        raise CommandError(f"--floor: {error.text}", error.hint or "write it as '5% + 20ms'") from error


def report_result(screen: Console, gated: GateResult, options: GateOptions) -> ExitCode:
    """Print the comparison. The exit code: a file that cannot be made is the lab's failure."""
    code, warned = _code(gated, options), _warned(gated, options)
    verdict = gate_text.closing_text(gated, warned=warned)
    width = columns_of(screen)
    head = list(gate_text.head(gated, interleaved=options.interleaved, width=width))
    pointers = _pointers(gated, options)
    if options.json:
        click.echo(json.dumps(gate_document(gated, code), indent=2))
    else:
        for line in (*head, *gate_text.body(gated, show_all=options.show_all, width=width)):
            screen.print(line)
    for annotation in annotations(gated, verdict=verdict):
        annotate(screen, annotation)
    plain = [line.plain for line in head], [line.plain for line in pointers]
    append_job_summary(
        screen,
        summary(gated, head=gate_text.EXIT_HEADLINES[code][0], verdict=verdict, proof=plain[0], pointers=plain[1]),
    )
    if not options.json:
        for line in (Text(), gate_text.verdict(gated, code, warned=warned, width=width), *pointers):
            screen.print(line)
    return _written(gated, options, code, verdict)


def _written(gated: GateResult, options: GateOptions, code: ExitCode, verdict: str) -> ExitCode:
    """The exit code, once JUnit XML lies where it was asked for."""
    if options.junit is not None:
        try:
            suites = gate_suites(gated, verdict=verdict, warned=_warned(gated, options))
            write_document(options.junit, "faultlab gate", suites)
        except ResultsUnwritable as unwritable:
            print_error(f"{unwritable.problem}\n  {unwritable.remedy}")
            return code if code is ExitCode.REGRESSED else ExitCode.LAB_ERROR
    return code


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
    """Whether uncertain cases pass because the user said so. Where nothing was compared, none can."""
    return options.inconclusive == "warn" and gated.inconclusive and not gated.regressed and bool(gated.compared)


def _pointers(gated: GateResult, options: GateOptions) -> list[Text]:
    of = (
        ""
        if options.baseline is None or options.baseline == BASELINE
        else f" --baseline {shlex.quote(str(options.baseline))}"
    )
    wanted = gate_text.scenarios_to_rerun(gated)
    pointers: list[Text] = []
    if options.interleaved or not gated.baseline.cases:
        return pointers
    if wanted:
        few = len(wanted) <= gate_text.MAX_NAMED_SCENARIOS
        floor = "" if options.floor is None else f" --floor {shlex.quote(options.floor)}"
        pointers.append(Text(f"repeat      faultlab gate --run{of}{floor}{_only(wanted if few else options.only)}"))
    file = "" if options.baseline is None or options.baseline.is_dir() else of
    if gated.other_machine and (options.run or options.only):
        # Nothing or only a part was measured: that cannot replace the suite of another machine.
        pointers.append(Text(f"accept      faultlab run --repeat 20, then faultlab gate --update{file}"))
    elif (gated.regressed or gated.other_machine or gated.new) and gated.current.cases and not gated.current.unfinished:
        # Write what was compared: the newest results may be others, and a part must not replace the whole.
        current = "" if options.current is None else f" --current {shlex.quote(str(options.current))}"
        pointers.append(Text(f"accept      faultlab gate --update{file}{current}{_only(options.only)}"))
    return pointers


def _only(names: Sequence[str]) -> str:
    return "".join(f" --only {shlex.quote(name)}" for name in names)
