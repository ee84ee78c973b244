"""`faultlab agree`: whether profile, real client and simulation do the same."""

import time
from pathlib import Path
from typing import Any

import click

from cli.agree.matrix import (
    AgreementMatrix,
    MatrixRequest,
    SuiteInterrupted,
    agreement_exit_code,
    disagreement_lines,
    measure,
    read_matrix,
    verdict_text,
    write_matrix,
)
from cli.arguments import ANY_PATH, CELLS, FILE
from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.report.build import make_report
from cli.suite.request import PARAMETERS, Request
from cli.suite.results_folders import unused_results_folder
from cli.suite.unavailable import unavailable_error
from cli.terminal.console import columns_of, console
from cli.terminal.problems import print_problems
from harness.agreement import SIDES
from harness.agreement.fidelity_page import fidelity_page
from harness.environments.world import EnvironmentUnavailable
from harness.language import Problems
from harness.records.agreement import Side
from harness.suite.machine import machine, timestamp_name, wall_clock

REPEAT, MOST = 13, 120


def agree(
    *, between: str, most: int, out: Path | None, write: Path | None, of: tuple[Path, ...], cells: int | None,
    report: bool, **asked: Any,
) -> ExitCode:  # fmt: skip
    """Say whether profile, real client and simulation do the same.

    PATHS are scenario files, folders, or names of bundled scenarios: each is run by every side. The real client is the
    reference: each time, each count and each error is compared with its own. Where runs are too few to say, more are
    made, once. A difference that a differences.yaml beside its scenario explains is counted apart: it is no agreement,
    and no failure.
    """
    began = time.monotonic()
    screen = console()
    sides = _sides(between)
    if of:
        matrix = read_matrix(of, sides)
        target = out or of[0]
    else:
        target = out or unused_results_folder(f"agree-{timestamp_name()}")
        request = Request.of({**asked, "environment": "auto", "client": None}, Path.cwd())
        try:
            matrix = measure(screen, MatrixRequest(request=request, sides=sides, out=target, most=most, cells=cells))
        except Problems as problems:
            print_problems(problems)
            return ExitCode.USAGE
        except EnvironmentUnavailable as refused:
            # Simulated runs alone have nothing to agree with, so there is no other environment to choose.
            raise unavailable_error(refused) from refused
        except SuiteInterrupted as interrupted:
            screen.print(f"INTERRUPTED  {interrupted}")
            return ExitCode.INTERRUPTED
    if not matrix.records:
        raise CommandError(
            "nothing was compared: no selected case was run by two sides",
            f"faultlab list names scenarios and their tags; a profile's are run by {', '.join(SIDES)}",
            code=ExitCode.NOTHING_SELECTED,
        )
    kept = write_matrix(matrix)
    screen.print()
    for line in disagreement_lines(matrix.records, width=columns_of(screen)):
        screen.print(line)
    if write is not None:
        _write(write, matrix, _command_line(asked, between, most))
        screen.print(f"written {write}")
    page = make_report(screen, *matrix.folders, out=target).page if report else None
    code = agreement_exit_code(matrix.records)
    screen.print(f"\n{verdict_text(matrix.records)}; {time.monotonic() - began:.1f} s")
    screen.print(f"results {kept}")
    screen.print(f"report  {page or 'faultlab report ' + ' '.join(map(str, matrix.folders))}   exit {int(code)}")
    return code


def _sides(between: str) -> tuple[Side, ...]:
    """Raises CommandError for an unknown side, or fewer than two."""
    named = [word.strip() for word in between.split(",") if word.strip()]
    unknown = [word for word in named if word not in SIDES]
    if unknown:
        raise CommandError(f"--between: there is no side {unknown[0]}", f"sides are {', '.join(SIDES)}")
    sides = tuple(side for side in SIDES if side in named)
    if len(sides) < 2:
        raise CommandError(
            f"--between {between}: agreement takes two sides", f"for example --between {','.join(SIDES)}"
        )
    return sides


def _write(file: Path, matrix: AgreementMatrix, command: str) -> None:
    text = fidelity_page(matrix.records, command=command, machine=machine(), made=wall_clock()[:10])
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(
            f"cannot write {file}: {error.strerror}",
            "name a file in a folder that can be written",
            code=ExitCode.LAB_ERROR,
        ) from error


def _command_line(asked: dict[str, Any], between: str, most: int) -> str:
    words = ["faultlab agree", *asked["paths"], f"--between {between}"]
    words += [f"--repeat {asked['repeat']}"] if asked["repeat"] != REPEAT else []
    words += [f"--most {most}"] if most != MOST else []
    return " ".join(words)


command = click.Command(
    "agree",
    callback=agree,
    help=agree.__doc__,
    params=[
        *(parameter for parameter in PARAMETERS if parameter.name not in ("environment", "client", "repeat")),
        click.Option(
            ["--between"],
            default="profile,real,sim",
            show_default=True,
            metavar="SIDES",
            help="Who is compared: the profile and the real client on real sockets, the profile in the simulation.",
        ),
        click.Option(
            ["--repeat"],
            type=click.IntRange(1, 1000),
            default=REPEAT,
            show_default=True,
            help="Runs per side and case.",
        ),
        click.Option(
            ["--most"],
            type=click.IntRange(1, 1000),
            default=MOST,
            show_default=True,
            help="Most runs per side, where those are too few.",
        ),
        click.Option(
            ["--of"],
            type=ANY_PATH,
            multiple=True,
            metavar="DIR",
            help="Run nothing: compare the runs of these results folders.",
        ),
        click.Option(["--out"], type=ANY_PATH, metavar="DIR", help="Folder of the results."),
        click.Option(["--write"], type=FILE, metavar="FILE", help="Write the matrix as Markdown, too."),
        CELLS,
        click.Option(["--report"], is_flag=True, help="Write the report too."),
    ],
)
