"""What an environment needs and the packages do not bring, obtained with a line at each stage on stderr."""

from collections.abc import Callable

import click

from harness.suite.environment_choice import AUTO, PREFERRED

_listeners: list[Callable[[str], None]] = []


def tell_too(listener: Callable[[str], None]) -> None:
    """Also pass each line to `listener`, for a reader who cannot see stderr while the command runs."""
    _listeners.append(listener)


def obtain_for(environment: str) -> None:
    """Whatever cannot be had is missed when the environment is opened, which says so."""
    if environment in (AUTO, PREFERRED):
        from harness.environments.local.obtaining import obtain_toxiproxy  # brings along what sim never needs

        obtain_toxiproxy(_tell)


def _tell(line: str) -> None:
    click.echo(line, err=True)
    for listener in _listeners:
        listener(line)
