"""`faultlab run`: run scenarios, measure, judge."""

from pathlib import Path
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from cli.arguments import ANY_PATH, CELLS
from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.suite.options import CI_OPTIONS, RunOptions
from cli.suite.request import PARAMETERS, Request
from cli.suite.session import resume_suite, start_suite


def run(
    context: click.Context,
    *,
    out: Path | None,
    resume: Path | None,
    json: bool,
    stream: bool,
    all_: bool,
    cells: int | None,
    report: bool,
    ci: bool,
    junit: Path | None,
    **asked: Any,
) -> ExitCode:
    """Run scenarios and compare what is measured with their formulas.

    PATHS are scenario files, folders, or names of bundled scenarios; without any, all bundled ones run.
    """
    options = RunOptions(
        json=json or stream, stream=stream, show_all=all_, cells=cells, report=report, ci=ci, junit=junit
    )
    if resume is None:
        return start_suite(Request.of(asked, Path.cwd()), out, options)
    begun_with = {*asked, "out"}
    given = [
        one.opts[0]
        for one in context.command.params
        if one.name in begun_with and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise CommandError(
            f"--resume keeps the options that the suite began with: {', '.join(given)} cannot be given too",
            f"faultlab run --resume {quote(str(resume))}",
        )
    return resume_suite(resume, options)


command = click.Command(
    "run",
    callback=click.pass_context(run),
    help=run.__doc__,
    params=[
        *PARAMETERS,
        click.Option(
            ["--out"],
            type=ANY_PATH,
            metavar="DIR",
            help="Folder of the results; by default results/<time>.",
        ),
        click.Option(["--resume"], type=ANY_PATH, metavar="DIR", help="Resume an interrupted suite."),
        CELLS,
        click.Option(["--report"], is_flag=True, help="Write the report too."),
        *CI_OPTIONS,
        click.Option(["--all", "all_"], is_flag=True, help="Show every row of the closing table."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout, progress on stderr."),
        click.Option(
            ["--stream"],
            is_flag=True,
            help="Like --json: one line for each case as it ends, the suite last.",
        ),
    ],
)
