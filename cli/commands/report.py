"""`faultlab report`: the page and the tables of results."""

import json as json_module
from pathlib import Path

import click

from cli.console import console
from cli.exits import Exit
from cli.making import make_report
from cli.show.figures import many


def report(*, folders: tuple[Path, ...], out: Path | None, json: bool) -> Exit:
    """Write the report of one or more results folders: a page, the timeout table, and Parquet files.

    Needs the `report` extra and a Java runtime.
    """
    screen = console(json=json)
    made = make_report(screen, *folders, out=out)
    if json:
        told = {
            "format": 1,
            "page": str(made.page),
            "markdown": str(made.markdown),
            "tables": {name: str(path) for name, path in made.tables.items()},
            "runs": made.runs,
            "quarantined": made.quarantined,
        }
        click.echo(json_module.dumps(told, indent=2))
    set_aside = f", {many(made.quarantined, 'line')} set aside" if made.quarantined else ""
    screen.print(f"{made.page}   {many(made.runs, 'run')}{set_aside}   {made.seconds:.1f} s")
    return Exit.PASSED


command = click.Command(
    "report",
    callback=report,
    help=report.__doc__,
    params=[
        click.Argument(["folders"], nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."),
        click.Option(["--out"], type=click.Path(path_type=Path), metavar="DIR", help="Where to; else the first DIR."),
        click.Option(["--json"], is_flag=True, help="Name what was written as a JSON document on stdout."),
    ],
)
