"""`faultlab agree`: whether profile, real client and simulation do the same."""

import time
from pathlib import Path
from typing import Any

import click

from cli import named_paths
from cli.agreeing import Asked, Interrupted, Matrix, exit_of, keep, look_at, measure, shown
from cli.console import console
from cli.diagnostics import say_problems
from cli.errors import Stop
from cli.exits import Exit
from cli.making import make_report
from cli.places import free_folder
from cli.request import PARAMETERS, Request
from cli.session import OTHERWISE
from cli.show.figures import many
from harness.agreement import SIDES, key_of
from harness.agreement.fidelity import fidelity
from harness.environments.world import EnvironmentUnavailable
from harness.language import Problems
from harness.records.agreement import Side
from harness.suite.machine import machine, stamp, wall_clock

REPEAT, MOST = 13, 120
WORDS = {
    Exit.PASSED: "AGREES",
    Exit.FAILED: "DIFFERS",
    Exit.INCONCLUSIVE: "NOT ENOUGH RUNS",
    Exit.NOTHING: "NOTHING COMPARED",
}


def agree(
    *, between: str, most: int, out: Path | None, write: Path | None, of: tuple[Path, ...], cells: int | None,
    report: bool, **asked: Any,
) -> Exit:  # fmt: skip
    """Say whether profile, real client and simulation do the same.

    PATHS are scenario files, folders, or names of bundled scenarios: each is run by every side. The real client is the
    reference: each time, each count and each error is compared with its own. Where runs are too few to say, more are
    made, once.
    """
    began = time.monotonic()
    screen = console()
    sides = _sides(between)
    if of:
        matrix = look_at(of, sides)
        target = out or of[0]
    else:
        target = out or free_folder(f"agree-{stamp()}")
        request = Request.of({**asked, "environment": "auto", "client": None}, Path.cwd())
        try:
            matrix = measure(screen, Asked(request=request, sides=sides, out=target, most=most, cells=cells))
        except Problems as problems:
            say_problems(problems)
            return Exit.USAGE
        except EnvironmentUnavailable as refused:
            # Simulated runs alone agree with nothing: there is no other environment to choose.
            raise Stop(refused.reason, refused.remedy.partition(OTHERWISE)[0], code=Exit.LAB) from refused
        except Interrupted as interrupted:
            screen.print(f"INTERRUPTED  {interrupted}")
            return Exit.INTERRUPTED
    if not matrix.records:
        raise Stop(
            "nothing was compared: no case that was selected was run by two sides",
            f"faultlab list names scenarios and their tags; a profile's are run by {', '.join(SIDES)}",
            code=Exit.NOTHING,
        )
    kept = keep(matrix)
    screen.print()
    for line in shown(matrix.records):
        screen.print(line)
    if write is not None:
        _write(write, matrix, _again(asked, between, most))
        screen.print(f"written {write}")
    page = make_report(screen, *matrix.folders, out=target).page if report else None
    code = exit_of(matrix.records)
    agreed = sum(record.outcome in ("agrees", "explained") for record in matrix.records)
    told = f"{agreed} of {many(len(matrix.records), 'row')} in {many(len({*map(key_of, matrix.records)}), 'case')}"
    screen.print(f"\n{WORDS[code]}  {told}; {time.monotonic() - began:.1f} s")
    screen.print(f"results {kept}")
    screen.print(f"report  {page or 'faultlab report ' + ' '.join(map(str, matrix.folders))}   exit {int(code)}")
    return code


def _sides(between: str) -> tuple[Side, ...]:
    """Raises Stop for what is no side, or fewer than two."""
    named = [word.strip() for word in between.split(",") if word.strip()]
    unknown = [word for word in named if word not in SIDES]
    if unknown:
        raise Stop(f"--between: there is no side {unknown[0]}", f"sides are {', '.join(SIDES)}")
    sides = tuple(side for side in SIDES if side in named)
    if len(sides) < 2:
        raise Stop(f"--between {between}: agreement takes two sides", f"for example --between {','.join(SIDES)}")
    return sides


def _write(file: Path, matrix: Matrix, command: str) -> None:
    text = fidelity(matrix.records, command=command, machine=machine(), made=wall_clock()[:10])
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Stop(
            f"cannot write {file}: {error.strerror}", "name a file in a folder that can be written", code=Exit.LAB
        ) from error


def _again(asked: dict[str, Any], between: str, most: int) -> str:
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
            ["--repeat"], type=click.IntRange(1, 1000), default=REPEAT, show_default=True, help="Runs a side and case."
        ),
        click.Option(
            ["--most"],
            type=click.IntRange(1, 1000),
            default=MOST,
            show_default=True,
            help="Where those are too few: at most so many.",
        ),
        click.Option(
            ["--of"],
            type=named_paths.ANY,
            multiple=True,
            metavar="DIR",
            help="Run nothing: compare the runs of these results folders.",
        ),
        click.Option(["--out"], type=named_paths.ANY, metavar="DIR", help="Folder of the results."),
        click.Option(["--write"], type=named_paths.FILE, metavar="FILE", help="Write the matrix as Markdown, too."),
        click.Option(["--cells"], type=click.IntRange(min=1), metavar="N", help="At most so many runs side by side."),
        click.Option(["--report"], is_flag=True, help="Write the report too."),
    ],
)
