"""`faultlab explain`: why a client waits so long under a fault, and which settings change that."""

import json as json_module
from functools import partial
from pathlib import Path

import click

from cli.arguments import ANY_PATH, parse_seconds
from cli.errors import CommandError, print_error
from cli.exit_codes import ExitCode
from cli.explain.question import (
    bundled_catalogues,
    check_fault_or_case,
    earlier_measurements,
    parse_client_release,
    question_of,
    simulator,
)
from cli.show.explain_chance_text import chance_text
from cli.show.explain_json import case_list_document, chance_document, explanation_document
from cli.show.explain_list import case_list_text
from cli.show.explain_svg import picture as draw_picture
from cli.show.explain_text import explanation_text
from cli.suite.results_folders import RESULTS
from cli.terminal.console import columns_of, console
from cli.terminal.problems import print_problems
from harness.explaining import (
    QUANTILE,
    SEEDS,
    HealthyPath,
    InvalidQuestion,
    decided_by_chance,
    explain,
    explain_chance,
)
from harness.language import Problems
from harness.language.schema import MOST_BOOTSTRAP_ADDRESSES, MOST_BROKERS
from harness.quantities import duration_text

BROKERS = click.IntRange(1, MOST_BROKERS)
ADDRESSES = click.IntRange(1, MOST_BOOTSTRAP_ADDRESSES)
MOST_SEEDS = 10_000


def explain_(
    *,
    client: str | None,
    fault: str | None,
    given: tuple[str, ...],
    brokers: int | None,
    bootstrap: int | None,
    budget: str | None,
    quantile: float,
    round_trip: str,
    broker_time: str,
    pause: str,
    seeds: int,
    picture: Path | None,
    everything: bool,
    json: bool,
) -> ExitCode:
    """Say why a client waits so long under a fault: the sum of its time-outs, what each of them is spent on, which
    settings change it and which do not.

    CLIENT is a client with its release (sarama@1.27.2), FAULT a fault or a case of one. Without them, says what can be
    explained. What a formula says is tried in simulated runs; where they disagree, the exit code is 1.

    `bootstrap` is a list with dead addresses in it, where chance decides: --bootstrap 4 --set dead=2.
    """
    try:
        catalogues = bundled_catalogues()
    except Problems as problems:
        print_problems(problems)
        return ExitCode.USAGE
    chosen = parse_client_release(client, catalogues) if client is not None else None
    if chosen is None or fault is None:
        if given or brokers or bootstrap or budget or picture:
            raise CommandError("a fault is missing", f"write faultlab explain {client or next(iter(catalogues))} FAULT")
        there = {name: catalogue for name, catalogue in catalogues.items() if chosen is None or name == chosen.name}
        if json:
            click.echo(json_module.dumps(case_list_document(there), indent=2))
        else:
            screen = console()
            for line in case_list_text(there, width=columns_of(screen)):
                screen.print(line)
        return ExitCode.PASSED
    question = question_of(chosen, given, brokers, bootstrap)
    budget_s = parse_seconds("--budget", budget) if budget is not None else None
    catalogue = catalogues[chosen.name]
    word = check_fault_or_case(fault, chosen, catalogue)
    healthy = HealthyPath(
        round_trip_s=parse_seconds("--round-trip", round_trip),
        broker_s=parse_seconds("--broker-time", broker_time),
        pause_s=parse_seconds("--pause", pause),
    )
    try:
        by_chance = decided_by_chance(catalogue, word, question)
        if by_chance is not None:
            if picture is not None:
                raise CommandError("--picture draws no chances", "the terminal does: leave it out")
            drawn = explain_chance(
                by_chance, question, simulator(), seeds=seeds, budget_s=budget_s, quantile=quantile, healthy=healthy
            )
            document, agrees = chance_document(drawn), drawn.agrees
            lines = partial(chance_text, drawn, budget)
        else:
            found = explain(catalogue, word, question, simulator(), budget_s=budget_s, healthy=healthy)
            measured = earlier_measurements(found, RESULTS)
            if picture is not None:
                _write(picture, draw_picture(found, measured))
            document, agrees = explanation_document(found, measured), found.agrees
            lines = partial(explanation_text, found, measured, budget)
    except InvalidQuestion as invalid:
        for mistake in invalid.mistakes:
            print_error(CommandError(mistake.message, mistake.hint).format_message())
        return ExitCode.USAGE
    if json:
        click.echo(json_module.dumps(document, indent=2))
    else:
        screen = console()
        for line in lines(width=columns_of(screen), everything=everything):
            screen.print(line)
    return ExitCode.PASSED if agrees else ExitCode.FAILED


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}", "name a file in a folder of yours") from error


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
            " (slow.delay=300ms), or addresses of the bootstrap list (dead=2, refused=1). May be repeated.",
        ),
        click.Option(["--brokers"], type=BROKERS, metavar="N", help="Brokers of the cluster."),
        click.Option(["--bootstrap"], type=ADDRESSES, metavar="K", help="Bootstrap addresses."),
        click.Option(["--budget"], metavar="TIME", help="Which settings keep the time within this, such as 3s."),
        click.Option(
            ["--round-trip"],
            default=duration_text(HealthyPath().round_trip_s),
            metavar="TIME",
            show_default=True,
            help="For --budget: the longest round trip of a healthy path.",
        ),
        click.Option(
            ["--broker-time"],
            default=duration_text(HealthyPath().broker_s),
            metavar="TIME",
            show_default=True,
            help="For --budget: how long a healthy broker may take for a request.",
        ),
        click.Option(
            ["--pause"],
            default=duration_text(HealthyPath().pause_s),
            metavar="TIME",
            show_default=True,
            help="For --budget: an allowance for a pause (a garbage collection, a lost segment).",
        ),
        click.Option(
            ["--quantile"],
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=QUANTILE,
            metavar="Q",
            show_default=True,
            help="For --budget where chance decides: the share of calls that keep to it.",
        ),
        click.Option(
            ["--seeds"],
            type=click.IntRange(20, MOST_SEEDS),
            default=SEEDS,
            metavar="N",
            show_default=True,
            help="Simulated runs where chance decides.",
        ),
        click.Option(
            ["--picture"],
            type=ANY_PATH,
            metavar="FILE.svg",
            help="Draw it too: the waits of each release and of each claim, on one axis.",
        ),
        click.Option(
            ["--all", "everything"], is_flag=True, help="Also when each formula holds, what has no effect, and claims."
        ),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout."),
    ],
)
