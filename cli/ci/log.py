"""Keeps what programs under test say from being read as commands to the CI system.

GitHub's runner obeys lines that begin with `::` (spaces before it do not matter) and text behind `##[`; GitLab obeys
sections behind an escape character. Source: actions/runner src/Runner.Common/ActionCommand.cs.
"""

import re
from typing import TextIO

from cli.terminal.safe_text import safe, unsafe

COMMAND = re.compile(r"^(\s*):(?=:)", flags=re.MULTILINE)
OLD_COMMAND = re.compile(r"##(?=\[)")


def sanitized(text: str) -> str:
    """The text as people read it; no CI system obeys it."""
    return OLD_COMMAND.sub("## ", COMMAND.sub(r"\1: ", safe(text)))


class SanitizedStream:
    """A text stream into a job's log. What is written is made harmless."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = unsafe(stream)

    @property
    def encoding(self) -> str:
        return self._stream.encoding

    def write(self, text: str) -> int:
        return self._stream.write(sanitized(text))

    def flush(self) -> None:
        self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Never: nothing in a log moves or has a colour."""
        return False


class LogStream(SanitizedStream):
    """The log itself: besides text it takes commands to the CI system."""

    def command(self, line: str) -> None:
        """One line as it is, in its place among what was written before and comes after."""
        self._stream.write(f"{line}\n")
        self._stream.flush()
