"""`faultlab validate`: everything that is wrong with scenarios, without running them."""

import json as json_module
from pathlib import Path

import click

from cli.console import console
from cli.diagnostics import say_problems
from cli.exits import Exit
from cli.problems import documents
from cli.show.figures import many
from cli.show.rows import folded
from harness.language import Problems, plans
from harness.suite.choosing import make
from harness.suite.collection import collect
from harness.suite.planning import load_all, refusals

ENVIRONMENTS = ("sim", "local")


def validate(*, paths: tuple[str, ...], ci: bool, json: bool) -> Exit:
    """Check scenarios: keys, units, names, formulas, and which environments can run them.

    PATHS are scenario files, folders, or names of bundled scenarios; without any, all bundled ones are checked.
    """
    try:
        loaded = load_all(collect(paths, folder=Path.cwd()))
    except Problems as problems:
        if json:
            click.echo(json_module.dumps({"format": 1, "problems": documents(problems)}, indent=2))
        say_problems(problems, ci=ci)
        return Exit.USAGE
    screen = console(json=json, ci=ci)
    if json:
        click.echo(json_module.dumps({"format": 1, "problems": []}, indent=2))
    for one in loaded:
        scenario = one.scenario
        runs = len(scenario.cells) * scenario.repeat
        screen.print(f"ok  {scenario.path}   {many(len(scenario.cells), 'case')}, {many(runs, 'run')}")
        for name in ENVIRONMENTS:
            made = plans(scenario, environment=name, seed=0, repeat=1)
            for problem in refusals(made, make("sim" if name == "sim" else "local")):
                screen.print(folded(f"line {problem.line}: {problem.message}", lead="    ", style="yellow"))
    if not loaded:
        screen.print("no scenarios there: nothing was checked")
        return Exit.NOTHING
    screen.print(f"{many(len(loaded), 'scenario')} ok")
    return Exit.PASSED


command = click.Command(
    "validate",
    callback=validate,
    help=validate.__doc__,
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATHS]..."),
        click.Option(["--ci"], is_flag=True, help="One line a problem, and annotations for GitHub Actions."),
        click.Option(["--json"], is_flag=True, help="The problems as a JSON document on stdout."),
    ],
)
