"""What ends a command early: one message that says what was wrong and what to do, and an exit code; no traceback."""

import os
import sys
import tempfile
import traceback
from contextvars import ContextVar
from pathlib import Path

import click

from cli.ci import Annotation, LogStream, System, detect_system
from cli.exit_codes import ExitCode

annotate_errors = ContextVar("annotated", default=False)
"""Whether a CI system reads what is said: `--ci` was given."""


class CommandError(click.ClickException):
    """Ends the command with `error: <problem>` and, below, what to do."""

    def __init__(self, problem: str, remedy: str = "", *, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(problem)
        self.remedy = remedy
        self.code = code

    def format_message(self) -> str:
        return f"{self.message}\n  {self.remedy}" if self.remedy else self.message


def print_error(text: str) -> None:
    """To stderr, in CI also as an annotation. Ignored where stderr cannot be written."""
    try:
        if not annotate_errors.get():
            click.echo(f"error: {text}", err=True)
            return
        log = LogStream(sys.stderr)
        log.write(f"error: {text}\n")
        if detect_system() is not System.GITLAB:
            log.command(Annotation(level="error", title="faultlab", message=text).command())
    except OSError:
        return


def print_internal_error(error: BaseException) -> None:
    """A short message; the details go to a file that its finder can send."""
    details = "".join(traceback.format_exception(error))
    try:
        descriptor, name = tempfile.mkstemp(prefix="faultlab-internal-error-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"faultlab {' '.join(sys.argv[1:])}\nPython {sys.version}\n\n{details}")
        where = f"the details are in {Path(name)}"
    except OSError as unwritable:
        where = f"no file could be written for the details ({unwritable.strerror})"
    print_error(f"this is a bug in faultlab: {type(error).__name__}: {error}\n  {where}; please report it")
