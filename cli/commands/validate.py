"""`faultlab validate`: everything that is wrong with scenarios, without running them."""

import json as json_module
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.show.rows import wrapped
from cli.terminal.console import console
from cli.terminal.problem_texts import problem_documents
from cli.terminal.problems import print_problems
from harness.environments import environment_names
from harness.language import Problem, Problems, Scenario, plans
from harness.suite.collection import collect
from harness.suite.environment_choice import make
from harness.suite.planning import load_all, unsupported_by


def validate(*, paths: tuple[str, ...], ci: bool, json: bool) -> ExitCode:
    """Check scenarios: keys, units, names, formulas, and which environments can run them.

    PATHS are scenario files, folders, or names of bundled scenarios; without any, all bundled ones are checked.
    """
    try:
        loaded = load_all(collect(paths, folder=Path.cwd()))
        refused = {one.scenario.name: _refused(one.scenario) for one in loaded}
        if unsupported := [problem for each in refused.values() for problem in _unsupported_everywhere(each)]:
            raise Problems(unsupported)
    except Problems as problems:
        if json:
            click.echo(json_module.dumps({"format": 1, "problems": problem_documents(problems)}, indent=2))
        print_problems(problems, ci=ci)
        return ExitCode.USAGE
    screen = console(json=json, ci=ci)
    if json:
        click.echo(json_module.dumps({"format": 1, "problems": []}, indent=2))
    shared = _scenarios_by_note(refused)
    for one in loaded:
        scenario = one.scenario
        runs = len(scenario.cells) * scenario.repeat
        screen.print(f"ok  {scenario.path}   {pluralized(len(scenario.cells), 'case')}, {pluralized(runs, 'run')}")
        for problem in (problem for problems in refused[scenario.name].values() for problem in problems):
            if shared[problem.message] == 1:
                screen.print(wrapped(f"line {problem.line}: {problem.message}", lead="    ", style="yellow"))
    for message, scenarios in shared.items():
        if scenarios > 1:
            screen.print(wrapped(f"{pluralized(scenarios, 'scenario')}: {message}", lead="note  ", style="yellow"))
    if not loaded:
        screen.print("no scenarios there: nothing was checked")
        return ExitCode.NOTHING_SELECTED
    screen.print(f"{pluralized(len(loaded), 'scenario')} ok")
    return ExitCode.PASSED


def _scenarios_by_note(refused: Mapping[str, Mapping[str, Sequence[Problem]]]) -> Counter[str]:
    """How many scenarios each note is about: what holds for several of them is said once."""
    return Counter(
        message
        for by_environment in refused.values()
        for message in {problem.message for problems in by_environment.values() for problem in problems}
    )


def _refused(scenario: Scenario) -> dict[str, list[Problem]]:
    """What of it each environment cannot do."""
    return {
        name: list(unsupported_by(plans(scenario, environment=name, seed=0, repeat=1), make(name)))
        for name in environment_names()
    }


def _unsupported_everywhere(refused: Mapping[str, Sequence[Problem]]) -> Iterator[Problem]:
    """A scenario that no environment can run is wrong, wherever it is to be run."""
    if not all(refused.values()):
        return
    alike: dict[tuple[int, str], list[Problem]] = {}
    for name, problems in refused.items():
        for problem in problems:
            alike.setdefault((problem.line, problem.message.removeprefix(f"{name} cannot ")), []).append(problem)
    for (_, reason), problems in alike.items():
        everywhere = len(problems) == len(refused)
        yield replace(problems[0], message=f"no environment can {reason}") if everywhere else problems[0]


command = click.Command(
    "validate",
    callback=validate,
    help=validate.__doc__,
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATHS]..."),
        click.Option(["--ci"], is_flag=True, help="One line per problem, and annotations for GitHub Actions."),
        click.Option(["--json"], is_flag=True, help="The problems as a JSON document on stdout."),
    ],
)
