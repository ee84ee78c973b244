"""Where text goes: stdout for results, stderr for what is said beside a JSON document; 80 columns if no terminal."""

import os
import sys
from typing import IO

from rich.console import Console

from cli.show.figures import WIDTH


class PipeConsole(Console):
    """Rich ends the process when the reader of its output goes; here `cli.main` decides what that means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, json: bool = False) -> Console:
    """The console for rows and tables: stderr where stdout carries a JSON document."""
    stream: IO[str] = sys.stderr if json else sys.stdout
    terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    return PipeConsole(
        file=stream,
        force_terminal=terminal,
        width=None if terminal else WIDTH,
        no_color=None if terminal else True,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
