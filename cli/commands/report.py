"""`faultlab report`: the page and the tables of results."""

import json as json_module
from pathlib import Path

import click

from cli.arguments import ANY_PATH
from cli.exit_codes import ExitCode
from cli.report.browser import show
from cli.report.build import make_report
from cli.show.formatting import pluralized
from cli.terminal.console import console


def report(
    *,
    folders: tuple[str, ...],
    out: Path | None,
    on: str | None,
    archive: str | None,
    spark: tuple[str, ...],
    json: bool,
    open_: bool,
) -> ExitCode:
    """Write the report of results folders: a page, the timeout table, and every table as Parquet and CSV.

    A folder is named by its path, by a pattern ('results/2026*'), or by a URI that Spark can read (s3a://, hdfs://,
    file://). A run that is in several of them counts once. Needs the `report` extra and a Java runtime.
    """
    screen = console(json=json)
    made = make_report(screen, *folders, out=out, on=on, archive=archive, settings=settings_of(spark))
    if json:
        document = {
            "format": 1,
            "page": str(made.page),
            "markdown": str(made.markdown),
            "tables": {name: str(path) for name, path in made.tables.items()},
            "junit": str(made.junit),
            "csv": {name: str(path) for name, path in made.csv.items()},
            "remarks": list(made.remarks),
            "runs": made.runs,
            "quarantined": made.quarantined,
        }
        click.echo(json_module.dumps(document, indent=2))
    set_aside = f", {pluralized(made.quarantined, 'line')} set aside" if made.quarantined else ""
    screen.print(f"{made.page}   {pluralized(made.runs, 'run')}{set_aside}   {made.seconds:.1f} s")
    trouble = show(made.page) if open_ else ""
    if trouble:
        screen.print(f"not opened: {trouble}; open the file above in a browser")
    return ExitCode.PASSED


def settings_of(given: tuple[str, ...]) -> dict[str, str]:
    """Raises UsageError where one is not NAME=VALUE."""
    for setting in given:
        if not setting.startswith("spark.") or "=" not in setting:
            raise click.UsageError(f"--spark takes spark.NAME=VALUE, not {setting}")
    return {name: value for name, _, value in (setting.partition("=") for setting in given)}


def master(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Raises BadParameter for a URL that is not a master of a cluster."""
    if value is not None and not value.startswith("spark://"):
        raise click.BadParameter(f"{value!r} is no master of a Spark cluster: name one as spark://host:port")
    return value


command = click.Command(
    "report",
    callback=report,
    help=report.__doc__,
    params=[
        click.Argument(["folders"], nargs=-1, required=True, metavar="DIR..."),
        click.Option(["--out"], type=ANY_PATH, metavar="DIR", help="Where to; else the first DIR."),
        click.Option(["--on"], callback=master, metavar="spark://HOST:PORT", help="Work on this Spark cluster."),
        click.Option(
            ["--archive"], metavar="DIR", help="Also keep the records as Parquet files, in a new folder or URI."
        ),
        click.Option(
            ["--spark"], multiple=True, metavar="spark.NAME=VALUE", help="A Spark setting, such as jars for s3a."
        ),
        click.Option(["--open", "open_"], is_flag=True, help="Open the page in the browser."),
        click.Option(["--json"], is_flag=True, help="Name what was written as a JSON document on stdout."),
    ],
)
