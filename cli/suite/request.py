"""What decides which runs a suite has: the words and options that its manifest keeps, to be read again by `--resume`
and `replay`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from cli.arguments import parse_settings
from harness.records.manifest import Manifest
from harness.suite.environment_choice import AUTO, CHOICES
from harness.suite.planning import CLIENTS, Client, Selection

SEED = 7
LARGEST_SEED = (1 << 63) - 1
"""What the tables of a report have room for."""
MOST_REPEATS = 1000

PARAMETERS: tuple[click.Parameter, ...] = (
    click.Argument(["paths"], nargs=-1, metavar="[PATHS]..."),
    click.Option(
        ["--env", "environment"],
        type=click.Choice(CHOICES),
        default=AUTO,
        show_default=True,
        help="Real sockets in namespaces (local), simulated time and network (sim), or local where it can run.",
    ),
    click.Option(
        ["--seed"],
        type=click.IntRange(0, LARGEST_SEED),
        default=SEED,
        show_default=True,
        help="Seed of everything random.",
    ),
    click.Option(
        ["--repeat"], type=click.IntRange(1, MOST_REPEATS), help="Runs of each case; else as each scenario says."
    ),
    click.Option(
        ["--client"],
        type=click.Choice(CLIENTS),
        help="Run profiles, real libraries, or each with both; else as each scenario says.",
    ),
    click.Option(["--only"], multiple=True, metavar="NAME", help="Only scenarios of this name (a pattern: sarama-*)."),
    click.Option(["--tag", "tags"], multiple=True, help="Only scenarios with this tag, or with one of several."),
    click.Option(["--case", "cases"], multiple=True, metavar="ID", help="Only this case, as `list --json` names it."),
    click.Option(
        ["--set", "settings"],
        multiple=True,
        callback=lambda _, __, words: parse_settings(words),
        metavar="NAME=VALUE",
        help="A setting of the client, in place of the scenario's own or beside it.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A suite as it was asked for. `folder` is where: `paths` are relative to it."""

    paths: tuple[str, ...]
    environment: str
    seed: int
    repeat: int | None
    client: Client | None
    selection: Selection
    settings: Mapping[str, str]
    folder: Path

    @classmethod
    def of(cls, parameters: dict[str, Any], folder: Path) -> "Request":
        """From the values that click read for PARAMETERS."""
        return cls(
            paths=tuple(parameters["paths"]),
            environment=parameters["environment"],
            seed=parameters["seed"],
            repeat=parameters["repeat"],
            client=cast(Client | None, parameters["client"]),
            selection=Selection(
                only=tuple(parameters["only"]), tags=tuple(parameters["tags"]), cases=tuple(parameters["cases"])
            ),
            settings=parameters["settings"],
            folder=folder,
        )

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> "Request":
        """From a manifest: with the environment that was chosen then. Raises click.UsageError for a spoilt one."""
        parameters = parse_run_arguments(manifest.arguments)
        return cls.of({**parameters, "environment": manifest.environment, "seed": manifest.seed}, Path(manifest.folder))

    def arguments(self) -> tuple[str, ...]:
        """The command line that asks for the same."""
        said = ["--env", self.environment, "--seed", str(self.seed)]
        if self.repeat is not None:
            said += ["--repeat", str(self.repeat)]
        if self.client is not None:
            said += ["--client", self.client]
        for name in self.selection.only:
            said += ["--only", name]
        for tag in self.selection.tags:
            said += ["--tag", tag]
        for case in self.selection.cases:
            said += ["--case", case]
        for name, text in self.settings.items():
            said += ["--set", f"{name}={text}"]
        return (*said, *(("--", *self.paths) if self.paths else ()))


def parse_run_arguments(arguments: Sequence[str]) -> dict[str, Any]:
    """What a file says that `faultlab run` was given. Raises click.UsageError for a spoilt one."""
    # Without --help, which would end this command with success instead.
    command = click.Command("run", params=list(PARAMETERS), add_help_option=False)
    return command.make_context("run", list(arguments)).params
