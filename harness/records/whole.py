"""Files that are written whole or not at all, and what stands at a file's place without being one.

A half-written file is worse than none, so what is told is written beside its place and renamed into it. That would put
a file in the place of a device, a pipe or a link that somebody named (`--junit /dev/stdout`): those are written into.
"""

import os
from contextlib import suppress
from pathlib import Path

OUR_OWN = (1, 2)
"""The descriptors of what this process says: a file that one of them is has to stay the same file."""


def write_whole(path: Path, told: bytes) -> None:
    """Put the bytes there; a link stays one, and what it leads to is written. Raises OSError."""
    if _is_stream(path):
        with path.open("ab") as stream:
            stream.write(told)
        return
    place = path.resolve()
    draft = place.with_name(f".{place.name}.new")
    try:
        draft.write_bytes(told)
        draft.replace(place)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _is_stream(path: Path) -> bool:
    """Whether it is there and no file of its own: a device, a pipe, or where this process says what it does."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    if not path.is_file():
        return True
    for descriptor in OUR_OWN:
        with suppress(OSError):
            if os.path.samestat(there, os.fstat(descriptor)):
                return True
    return False
