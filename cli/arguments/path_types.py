"""Paths as words of a command line."""

from pathlib import Path
from typing import Any

import click


class NonEmptyPath(click.Path):
    """A path that is named in so many words: an empty one, as a script leaves it whose variable is not set, would mean
    the folder in which the command is given, and nobody meant that."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "":
            self.fail("it is empty: name a path (is a variable not set?)", param, ctx)
        return super().convert(value, param, ctx)


ANY_PATH = NonEmptyPath(path_type=Path)
FILE = NonEmptyPath(path_type=Path, dir_okay=False)
FOLDER = NonEmptyPath(path_type=Path, file_okay=False)
