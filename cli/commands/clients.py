"""`faultlab clients`: the real libraries as programs to run scenarios with, and the check of a program of one's own."""

import json as json_module
from collections.abc import Callable

import click
from rich.console import Console

from cli.console import console
from cli.exits import Exit
from cli.show.figures import many
from cli.show.rows import folded
from harness.realclients import build as build_all
from harness.realclients import chosen, real_clients


def build(*, names: tuple[str, ...]) -> Exit:
    """Build real clients into the user's cache.

    NAMES are clients or releases (sarama, sarama@1.27.2); without any, all are built. Needs Go, or pip to get it (75
    MB); downloads what the library requires. What is built already is left alone.
    """
    screen = console()
    clients = chosen(names)
    build_all(clients, _telling(screen))
    for client in clients:
        screen.print(f"{client!s:<16}  {client.program}")
    return Exit.PASSED


def list_(*, json: bool) -> Exit:
    """Name the real clients, and which of them are built."""
    clients = real_clients()
    if json:
        told = [
            {"client": client.name, "version": client.version, "program": str(client.program), "built": client.built}
            for client in clients
        ]
        click.echo(json_module.dumps({"format": 1, "clients": told}, indent=2))
        return Exit.PASSED
    screen = console()
    for client in clients:
        screen.print(f"{client!s:<16}  {client.program if client.built else 'not built'}")
    missing = [str(client) for client in clients if not client.built]
    if missing:
        screen.print(f"\n{many(len(missing), 'client')} to build: faultlab clients build {' '.join(missing)}")
    screen.print("\nrun scenarios with them: faultlab run --env local --client real")
    return Exit.PASSED


def _telling(screen: Console) -> Callable[[str], None]:
    return lambda line: screen.print(folded(line, lead="", style="dim"))


command = click.Group(
    "clients",
    help="Real client libraries, and the check of a program of yours.",
    commands=[
        click.Command(
            "build",
            callback=build,
            help=build.__doc__,
            params=[click.Argument(["names"], nargs=-1, metavar="[NAMES]...")],
        ),
        click.Command(
            "list",
            callback=list_,
            help=list_.__doc__,
            params=[click.Option(["--json"], is_flag=True, help="One JSON document on stdout.")],
        ),
    ],
)
