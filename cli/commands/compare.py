"""`faultlab compare`: two suites beside each other, without a verdict."""

import json as json_module
from pathlib import Path

import click

from cli import named_paths
from cli.console import console, summarise
from cli.exits import Exit
from cli.gated_sides import nothing_selected, side_at
from cli.show.beside import table
from cli.show.gated_json import compared_document
from cli.show.markdown import block
from harness.gating.comparison import selected
from harness.gating.side_by_side import side_by_side


def compare(*, first: Path, second: Path, only: tuple[str, ...], all_: bool, json: bool, ci: bool) -> Exit:
    """Show what differs between two suites, and by how much.

    A and B are results folders, or baseline files: of other releases, settings or machines. Nothing is judged: for that
    there is `faultlab gate`. An interval holds the true difference with 99 %: of a hundred measures that are equal, one
    seems to differ.
    """
    sides = side_at(first), side_at(second)
    for side in sides:
        if not selected(side, only).cases:
            raise nothing_selected(side, only)
    found = side_by_side(*sides, only=only)
    screen = console(json=json, ci=ci)
    shown = list(table(found, everything=all_))
    lines = [line for text in shown for line in text.plain.split("\n")]
    summarise(screen, f"### faultlab compare\n\n{block(lines)}\n")
    if json:
        click.echo(json_module.dumps(compared_document(found), indent=2, ensure_ascii=False))
        return Exit.PASSED
    for line in shown:
        screen.print(line)
    return Exit.PASSED


command = click.Command(
    "compare",
    callback=compare,
    help=compare.__doc__,
    params=[
        click.Argument(["first"], type=named_paths.ANY, metavar="A"),
        click.Argument(["second"], type=named_paths.ANY, metavar="B"),
        click.Option(["--only"], multiple=True, metavar="NAME", help="Only scenarios of this name (a pattern too)."),
        click.Option(["--ci"], is_flag=True, help="For CI: no colour, and the same on the page of the job."),
        click.Option(["--all", "all_"], is_flag=True, help="Show every case that differs."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout."),
    ],
)
