"""`faultlab list`: which scenarios there are, and how long they take by their formulas."""

import json as json_module
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.text import Text

from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.show.order import fault_rank
from cli.show.rows import wrapped
from cli.terminal.console import columns_of, console
from cli.terminal.problem_texts import problem_documents
from cli.terminal.problems import print_problems
from harness.language import Problems, Scenario
from harness.plan import PlannedFault, RunPlan
from harness.suite.collection import collect
from harness.suite.naming import case_id
from harness.suite.planning import SLOW, Selection, load_each


def list_(*, paths: tuple[str, ...], tags: tuple[str, ...], only: tuple[str, ...], json: bool) -> ExitCode:
    """Name scenarios with their clients, runs, predicted times and tags.

    PATHS are scenario files, folders, or names of bundled scenarios; without any, all bundled ones are listed: first
    ports that go dark, brokers that leave the cluster, and slow dials.
    """
    try:
        loaded, problems = load_each(collect(paths, folder=Path.cwd()))
    except Problems as unreadable:
        loaded, problems = (), unreadable
    selection = Selection(only=only, tags=tags)
    scenarios = [one.scenario for one in loaded if selection.matches(one.scenario)]
    if not paths:
        scenarios.sort(key=_rank)  # sorting is stable: scenarios of one rank stay in the order of their paths
    if json:
        wrong = problem_documents(problems) if problems else []
        document = {"format": 1, "scenarios": [_scenario_document(s) for s in scenarios], "problems": wrong}
        click.echo(json_module.dumps(document, indent=2))
    if problems:
        print_problems(problems)
        return ExitCode.USAGE
    if json:
        return ExitCode.PASSED if scenarios else ExitCode.NOTHING_SELECTED
    screen = console()
    for scenario in scenarios:
        for line in _lines(scenario, columns_of(screen)):
            screen.print(line)
    runs = sum(_runs(scenario) for scenario in scenarios)
    screen.print(f"{pluralized(len(scenarios), 'scenario')}, {pluralized(runs, 'run')}; times are by formula")
    return ExitCode.PASSED if scenarios else ExitCode.NOTHING_SELECTED


def _rank(scenario: Scenario) -> tuple[int, bool]:
    """What people come for first, and of that what is quick."""
    faults = {step.fault.name for cell in scenario.cells for step in cell.steps if isinstance(step, PlannedFault)}
    return fault_rank(faults), SLOW in scenario.tags


def _lines(scenario: Scenario, width: int) -> Iterator[Text]:
    figures = f"{pluralized(_runs(scenario), 'run'):>8}  {_longest(scenario):>10}"
    left = f"{scenario.name}  {_clients(scenario.clients)}"
    if len(left) + 2 + len(figures) > width:
        yield Text(f"{left}\n{figures:>{width}}")
    else:
        yield Text(left.ljust(width - len(figures)) + figures)
    tags = f"[{', '.join(scenario.tags)}]"
    together = f"{scenario.about}  {tags}"
    for text in (together,) if len(together) + 2 <= width else (scenario.about, tags):
        yield wrapped(text, lead="  ", style="dim", width=width)


def _clients(clients: Sequence[str]) -> str:
    """`kafka-go 0.4.8, 0.4.9; sarama 1.27.2`: each client once."""
    versions: dict[str, list[str]] = {}
    for client in clients:
        name, _, version = client.rpartition(" ")
        versions.setdefault(name, []).append(version)
    return "; ".join(f"{name} {', '.join(of_one)}".strip() for name, of_one in versions.items())


def _runs(scenario: Scenario) -> int:
    return len(scenario.cells) * scenario.repeat


def _longest(scenario: Scenario) -> str:
    return "unknown" if scenario.longest_s is None else f"{scenario.longest_s:.3f} s"


def _scenario_document(scenario: Scenario) -> dict[str, object]:
    return {
        "scenario": scenario.name,
        "path": str(scenario.path),
        "about": scenario.about,
        "tags": list(scenario.tags),
        "clients": list(scenario.clients),
        "runs": _runs(scenario),
        "longest_s": scenario.longest_s,
        "cases": [_case(scenario, cell) for cell in scenario.cells],
    }


def _case(scenario: Scenario, cell: RunPlan) -> dict[str, object]:
    """`id` is what `faultlab run --case` takes."""
    return {
        "id": case_id(scenario.name, cell.parameters),
        "client": cell.client.name,
        "client_version": cell.client.version,
        "driver": cell.client.driver,
        "parameters": {parameter.name: parameter.text for parameter in cell.parameters},
        "runs": scenario.repeat,
        "predicted_s": cell.predicted_s,
    }


command = click.Command(
    "list",
    callback=list_,
    help=list_.__doc__,
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATHS]..."),
        click.Option(["--only"], multiple=True, metavar="NAME", help="Only scenarios of this name (or pattern)."),
        click.Option(["--tag", "tags"], multiple=True, help="Only scenarios with this tag, or with one of several."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout."),
    ],
)
