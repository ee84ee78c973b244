"""What programs under test, files and brokers say, made safe for a terminal: the one place for all that is printed.

An escape sequence in such a text would move the cursor, rename the window or write to the clipboard; the controls of
Unicode's bidirectional text show a line in another order than it is in.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x80-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and line end (ASCII's and Latin-1's), and those that turn the direction of text."""


def safe(text: str) -> str:
    """The text with a replacement character in place of each one that a terminal may obey."""
    return UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


class SafeStream:
    """Stands in for stdout or stderr, and makes safe what is written.

    `unsafe` is the stream below, for what the lab itself says to a terminal: colours, and a cursor that moves. It has
    no `buffer`, past which bytes would get.
    """

    def __init__(self, unsafe: TextIO) -> None:
        self.unsafe = unsafe

    @property
    def encoding(self) -> str:
        return self.unsafe.encoding

    @property
    def errors(self) -> str | None:
        return self.unsafe.errors

    def write(self, text: str) -> int:
        return self.unsafe.write(safe(text))

    def flush(self) -> None:
        self.unsafe.flush()

    def fileno(self) -> int:
        return self.unsafe.fileno()

    def isatty(self) -> bool:
        return self.unsafe.isatty()


def unsafe(stream: TextIO) -> TextIO:
    """The stream below, for a writer that makes foreign text safe by itself."""
    return stream.unsafe if isinstance(stream, SafeStream) else stream


@contextmanager
def safe_streams() -> Iterator[None]:
    """Whatever is written to stdout and stderr inside is safe."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, SafeStream(unsafe(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
