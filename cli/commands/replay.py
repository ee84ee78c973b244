"""`faultlab replay`: one run again, or all repeats of its case, with the same seeds, in a results folder of its own."""

from pathlib import Path

import click

from cli.arguments import ANY_PATH
from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.suite.options import CI_OPTIONS, RunOptions
from cli.suite.results_folders import RESULTS, suites_newest_first
from cli.suite.session import replay_suite
from harness.records.folder import ResultsUnreadable
from harness.records.reader import Results, read


def replay(
    *, run: str, group: bool, in_: Path | None, out: Path | None, json: bool, report: bool, ci: bool, junit: Path | None
) -> ExitCode:
    """Run one run again, with the same seed.

    RUN is the beginning of a run id, as `faultlab run` prints it. What a scenario expects of many runs together (share,
    mean, quantile) one run cannot show: --group runs all repeats of its case again.
    """
    results = _find_results(run, in_)
    options = RunOptions(json=json, show_all=True, cells=None, report=report, ci=ci, junit=junit)
    return replay_suite(results, run, out, options, scope="group" if group else "run")


def _find_results(prefix: str, folder: Path | None) -> Results:
    """The results that planned the run: those of `folder`, else the newest that have it. Raises CommandError."""
    if not prefix.strip():
        raise CommandError(
            "RUN is empty: any run begins so", "name the beginning of a run id, as `faultlab run` prints it"
        )
    looked_in = [folder] if folder is not None else suites_newest_first()
    for path in looked_in:
        try:
            results = read(path)
        except ResultsUnreadable:
            if folder is not None:
                raise
            continue  # another suite may have it
        if any(run_id.startswith(prefix.lower()) for run_id in results.manifest.run_ids):
            return results
    if not looked_in:
        raise CommandError(
            f"there are no results in {RESULTS}/", "name a results folder with --in, or run a suite first"
        )
    where = str(folder) if folder is not None else f"the {pluralized(len(looked_in), 'suite')} in {RESULTS}/"
    raise CommandError(f"no run in {where} begins with {prefix}", "name another results folder with --in")


command = click.Command(
    "replay",
    callback=replay,
    help=replay.__doc__,
    params=[
        click.Argument(["run"], metavar="RUN"),
        click.Option(["--group"], is_flag=True, help="All repeats of the run's case, judged together."),
        click.Option(["--in", "in_"], type=ANY_PATH, metavar="DIR", help="The results folder that has the run."),
        click.Option(
            ["--out"],
            type=ANY_PATH,
            metavar="DIR",
            help="Folder of the results; else results/<time>.",
        ),
        click.Option(["--report"], is_flag=True, help="Write the report too."),
        *CI_OPTIONS,
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout, progress on stderr."),
    ],
)
