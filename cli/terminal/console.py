"""Where text goes: stdout for results, stderr where stdout holds a JSON document; 80 columns without a terminal.

In a CI system's log nothing moves and nothing has a colour, parts of it fold, and mistakes are annotated.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from cli.ci import Annotation, LogStream, SanitizedStream, append_summary, group, write_annotation
from cli.show.formatting import NARROWEST, WIDEST, WIDTH
from cli.terminal.safe_text import safe, unsafe


class SafeConsole(Console):
    """Prints foreign text safely: rows that move, tables, lines. What Rich itself says to a terminal stays.

    Rich ends the process when the reader of its output goes; here `cli.main` decides what that means.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(safe(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, json: bool = False, ci: bool = False, quoted: bool = False) -> Console:
    """The console for rows and tables: stderr where stdout carries a JSON document. `ci`: a CI system's log; `quoted`:
    a part of one, in which nothing is annotated or folds."""
    stream = unsafe(sys.stderr if json else sys.stdout)
    terminal = not ci and stream.isatty() and os.environ.get("TERM") != "dumb"
    return SafeConsole(
        file=cast(IO[str], SanitizedStream(stream) if quoted else LogStream(stream)) if ci else stream,
        force_terminal=terminal,
        width=None if terminal else WIDTH,
        no_color=None if terminal else True,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def columns_of(screen: Console) -> int:
    """The columns that rows may use: those of the terminal within reason, 80 without one."""
    return min(max(screen.width, NARROWEST), WIDEST) if screen.is_terminal else WIDTH


def writes_to_ci_log(screen: Console) -> bool:
    """Whether what is printed goes to a CI system's log."""
    return isinstance(screen.file, LogStream)


@contextmanager
def log_group(screen: Console, title: str) -> Iterator[None]:
    """In a CI system's log, what is printed inside folds under `title`; elsewhere it is printed as it is."""
    stream = screen.file
    if not isinstance(stream, LogStream):
        yield
        return
    with group(stream, title):
        yield


def annotate(screen: Console, annotation: Annotation) -> None:
    """In a CI system's log: one line, and an annotation; elsewhere nothing, because details were printed."""
    stream = screen.file
    if isinstance(stream, LogStream):
        write_annotation(stream, annotation)


def append_job_summary(screen: Console, markdown: str) -> None:
    """In a CI system's log: add to the job's summary, if the system has one."""
    if writes_to_ci_log(screen):
        unwritten = append_summary(markdown)
        if unwritten is not None:
            screen.print(f"warning: {unwritten}")
