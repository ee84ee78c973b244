"""Words of a command line: paths, settings and durations, with one message for each that is wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cli.errors import CommandError
from harness.environments.registry import AUTO_LANES
from harness.quantities import QuantityError, duration_s


class NonEmptyPath(click.Path):
    """A path that is not empty.

    A script whose variable is not set leaves an empty one, which would mean the current folder.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "":
            self.fail("it is empty: name a path (is a variable not set?)", param, ctx)
        return super().convert(value, param, ctx)


class CellCount(click.IntRange):
    """A number of runs side by side, or `auto`: as many as the machine's memory holds and its start cost allows."""

    def __init__(self) -> None:
        super().__init__(min=1)
        self.name = "number of runs, nor `auto`"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return AUTO_LANES if value == "auto" else super().convert(value, param, ctx)


CELLS = click.Option(
    ["--cells"],
    type=CellCount(),
    metavar="N|auto",
    help="Most runs side by side; `auto`: as many as memory and start-up time allow.",
)
ANY_PATH = NonEmptyPath(path_type=Path)
FILE = NonEmptyPath(path_type=Path, dir_okay=False)
FOLDER = NonEmptyPath(path_type=Path, file_okay=False)


def parse_settings(words: Sequence[str]) -> dict[str, str]:
    """Settings from words such as `Net.ReadTimeout=3s`. Raises CommandError."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or not name or not text:
            raise CommandError(f"--set {word} sets nothing", "write --set Net.ReadTimeout=3s")
        if name in found:
            raise CommandError(f"--set {name} is given twice", "keep one of them")
        found[name] = text
    return found


def parse_seconds(option: str, text: str) -> float:
    """A duration above zero, in seconds. Raises CommandError, which names the option."""
    try:
        found = duration_s(text)
    except QuantityError as error:
        raise CommandError(f"{option}: {error.text}", error.hint) from error
    if found <= 0:
        raise CommandError(f"{option} {text}: nothing happens in no time", f"write {option} 3s")
    return found
