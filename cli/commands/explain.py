"""`faultlab explain`: why a client waits so long under a fault, and which settings change that."""

import json as json_module
from pathlib import Path

import click

from cli import asking, named_paths
from cli.console import console
from cli.diagnostics import say_problems
from cli.errors import Stop, say_error
from cli.exits import Exit
from cli.places import RESULTS
from cli.show.explainable import explainable
from cli.show.explained import explained, what_there_is
from cli.show.explanation import explanation
from cli.show.picture import picture as drawn
from harness.explaining import Mistaken, explain
from harness.language import Problems
from harness.language.schema import MOST_BROKERS, MOST_SEEDS

BROKERS = click.IntRange(1, MOST_BROKERS)
SEEDS = click.IntRange(1, MOST_SEEDS)


def explain_(
    *,
    client: str | None,
    fault: str | None,
    given: tuple[str, ...],
    brokers: int | None,
    bootstrap: int | None,
    budget: str | None,
    picture: Path | None,
    json: bool,
) -> Exit:
    """Say why a client waits so long under a fault: the sum of its time-outs, what each of them is spent on, which
    settings change it and which do not.

    CLIENT is a client with its release (sarama@1.27.2), FAULT a fault or a case of one. Without them, says what can be
    explained. What a formula says is tried in simulated runs; where they disagree, the exit code is 1.
    """
    try:
        libraries = asking.bundled_libraries()
    except Problems as problems:
        say_problems(problems)
        return Exit.USAGE
    chosen = asking.client_of(client, libraries) if client is not None else None
    if chosen is None or fault is None:
        if given or brokers or bootstrap or budget or picture:
            raise Stop("a fault is missing", f"write faultlab explain {client or next(iter(libraries))} FAULT")
        there = {name: library for name, library in libraries.items() if chosen is None or name == chosen.name}
        if json:
            click.echo(json_module.dumps(what_there_is(there), indent=2))
        else:
            screen = console()
            for line in explainable(there):
                screen.print(line)
        return Exit.PASSED
    asked = asking.asked(chosen, given, brokers, bootstrap)
    budget_s = asking.seconds("--budget", budget) if budget is not None else None
    library = libraries[chosen.name]
    word = asking.checked_word(fault, chosen, library)
    try:
        found = explain(library, word, asked, asking.simulator(), budget_s=budget_s)
    except Mistaken as mistaken:
        for mistake in mistaken.mistakes:
            say_error(Stop(mistake.message, mistake.hint).format_message())
        return Exit.USAGE
    measured = asking.measured_before(found, RESULTS)
    if picture is not None:
        _write(picture, drawn(found, measured))
    if json:
        click.echo(json_module.dumps(explained(found, measured), indent=2, ensure_ascii=False))
    else:
        screen = console()
        for line in explanation(found, measured, budget):
            screen.print(line)
    return Exit.PASSED if found.agrees else Exit.FAILED


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Stop(f"cannot write {file}: {error.strerror}", "name a file in a folder of yours") from error


command = click.Command(
    "explain",
    callback=explain_,
    help=explain_.__doc__,
    params=[
        click.Argument(["client"], required=False, metavar="[CLIENT@RELEASE"),
        click.Argument(["fault"], required=False, metavar="FAULT]"),
        click.Option(
            ["--set", "given"],
            multiple=True,
            metavar="NAME=VALUE",
            help="A setting of the client (Net.ReadTimeout=3s, or ReadTimeout=3s), or a parameter of the fault"
            " (slow.delay=300ms). May be repeated.",
        ),
        click.Option(["--brokers"], type=BROKERS, metavar="N", help="Brokers of the cluster."),
        click.Option(["--bootstrap"], type=SEEDS, metavar="K", help="Bootstrap addresses."),
        click.Option(["--budget"], metavar="TIME", help="Which settings keep the time within this, such as 3s."),
        click.Option(
            ["--picture"],
            type=named_paths.ANY,
            metavar="FILE.svg",
            help="Draw it too: the waits of each release and of each claim, on one axis.",
        ),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout."),
    ],
)
