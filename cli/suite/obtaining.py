"""What an environment needs and the packages do not bring, obtained with a line at each stage on stderr."""

import click

from harness.suite.environment_choice import AUTO, PREFERRED


def obtain_for(environment: str) -> None:
    """Whatever cannot be had is missed when the environment is opened, which says so."""
    if environment in (AUTO, PREFERRED):
        from harness.environments.local.obtaining import obtain_toxiproxy  # brings along what sim never needs

        obtain_toxiproxy(lambda line: click.echo(line, err=True))
