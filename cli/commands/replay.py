"""`faultlab replay`: one run again, or all repeats of its case, with the same seeds, in a results folder of its own."""

from pathlib import Path

import click

from cli import named_paths
from cli.errors import Stop
from cli.exits import Exit
from cli.places import RESULTS, newest_first
from cli.session import CI, Manner, again
from cli.show.figures import many
from harness.records.folder import ResultsUnreadable
from harness.records.reader import Results, read


def replay(
    *, run: str, group: bool, in_: Path | None, out: Path | None, json: bool, report: bool, ci: bool, junit: Path | None
) -> Exit:
    """Run one run again, with the same seed.

    RUN is the beginning of a run id, as `faultlab run` prints it. What a scenario expects of many runs together (share,
    mean, quantile) one run cannot show: --group runs all repeats of its case again.
    """
    results = _holding(run, in_)
    manner = Manner(json=json, everything=True, cells=None, report=report, ci=ci, junit=junit)
    return again(results, run, out, manner, extent="group" if group else "run")


def _holding(prefix: str, folder: Path | None) -> Results:
    """The results that planned the run: those of `folder`, else the newest that have it. Raises Stop."""
    if not prefix.strip():
        raise Stop("RUN is empty: any run begins so", "name the beginning of a run id, as `faultlab run` prints it")
    looked_in = [folder] if folder is not None else newest_first()
    for path in looked_in:
        try:
            results = read(path)
        except ResultsUnreadable:
            if folder is not None:
                raise
            continue  # another suite that cannot be read is no reason not to replay this one
        if any(run_id.startswith(prefix.lower()) for run_id in results.manifest.run_ids):
            return results
    if not looked_in:
        raise Stop(f"there are no results in {RESULTS}/", "name a results folder with --in, or run a suite first")
    where = str(folder) if folder is not None else f"the {many(len(looked_in), 'suite')} in {RESULTS}/"
    raise Stop(f"no run in {where} begins with {prefix}", "name another results folder with --in")


command = click.Command(
    "replay",
    callback=replay,
    help=replay.__doc__,
    params=[
        click.Argument(["run"], metavar="RUN"),
        click.Option(["--group"], is_flag=True, help="All repeats of the run's case, judged together."),
        click.Option(["--in", "in_"], type=named_paths.ANY, metavar="DIR", help="The results folder that has the run."),
        click.Option(
            ["--out"],
            type=named_paths.ANY,
            metavar="DIR",
            help="Folder of the results; else results/<time>.",
        ),
        click.Option(["--report"], is_flag=True, help="Write the report too."),
        *CI,
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout, progress on stderr."),
    ],
)
