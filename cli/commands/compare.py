"""`faultlab compare`: two suites side by side, without a verdict."""

import json as json_module
from pathlib import Path

import click

from cli.arguments import ANY_PATH
from cli.exit_codes import ExitCode
from cli.gate.suites import load_suite, nothing_selected_error
from cli.show.gate_json import comparison_document
from cli.show.markdown import block
from cli.show.suite_comparison import table
from cli.terminal.console import append_job_summary, columns_of, console
from harness.comparing.cases import select_scenarios
from harness.comparing.side_by_side import side_by_side


def compare(*, first: Path, second: Path, only: tuple[str, ...], all_: bool, json: bool, ci: bool) -> ExitCode:
    """Show what differs between two suites, and by how much.

    A and B are results folders, or baseline files: of other releases, settings or machines. Nothing is judged: for that
    there is `faultlab gate`. Intervals are 99 % ones: of a hundred equal measures, one seems to differ.
    """
    sides = load_suite(first), load_suite(second)
    for side in sides:
        if not select_scenarios(side, only).cases:
            raise nothing_selected_error(side, only)
    found = side_by_side(*sides, only=only)
    screen = console(json=json, ci=ci)
    shown = list(table(found, show_all=all_, width=columns_of(screen)))
    lines = [line for text in shown for line in text.plain.split("\n")]
    append_job_summary(screen, f"### faultlab compare\n\n{block(lines)}\n")
    if json:
        click.echo(json_module.dumps(comparison_document(found), indent=2))
        return ExitCode.PASSED
    for line in shown:
        screen.print(line)
    return ExitCode.PASSED


command = click.Command(
    "compare",
    callback=compare,
    help=compare.__doc__,
    params=[
        click.Argument(["first"], type=ANY_PATH, metavar="A"),
        click.Argument(["second"], type=ANY_PATH, metavar="B"),
        click.Option(["--only"], multiple=True, metavar="NAME", help="Only scenarios of this name (a pattern too)."),
        click.Option(["--ci"], is_flag=True, help="For CI: no colour, and the same on the page of the job."),
        click.Option(["--all", "all_"], is_flag=True, help="Show all cases that differ."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout."),
    ],
)
