"""Files that are written whole or not at all, and what stands at a file's place without being one.

A half-written file is worse than none, so the bytes are written to a file beside it, which is then renamed. That would
replace a device, a pipe or a link that the user named (`--junit /dev/stdout`) by a file: those are written into.
"""

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj
from typing import IO

STANDARD_STREAMS = (1, 2)
"""The descriptors of what this process says. What goes there too goes through them, after what was said before."""


def write_atomically(path: Path, data: bytes) -> None:
    """Put the bytes there; a link stays one, and what it leads to is written. Raises OSError."""
    copy_atomically(path, io.BytesIO(data))


def copy_atomically(path: Path, source: IO[bytes]) -> None:
    """As `write_atomically`, of all that a file or stream has from where it stands."""
    stream = _stream(path)
    if stream is not None:
        with stream:
            copyfileobj(source, stream)
        return
    place = path.resolve()
    draft = place.with_name(f".{place.name}.new")
    try:
        with draft.open("wb") as file:
            copyfileobj(source, file)
        draft.replace(place)
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk does not say where
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _stream(path: Path) -> IO[bytes] | None:
    """What is there, open, where that is no file of its own: a device, a pipe, or where this process says what it does.

    None for a file, and for nothing.
    """
    try:
        there = path.stat()
    except FileNotFoundError:
        return None
    for descriptor in STANDARD_STREAMS:
        with suppress(OSError):
            if os.path.samestat(there, os.fstat(descriptor)):
                sys.stdout.flush()
                return os.fdopen(os.dup(descriptor), "wb")
    return None if path.is_file() else path.open("ab")
