"""Finds and reads scenario files, with a problem for every way in which that can fail."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from harness.language.yaml.problems import Problem, Problems
from harness.language.yaml.tree import LARGEST_FILE

SCENARIO_SUFFIX = ".scenario.yaml"


def text_of(path: Path) -> str:
    """The file's text. Raises Problems where it is missing, cannot be read, or is not UTF-8."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise OSError(errno.EINVAL, "it is a pipe, a socket or a device")  # reading one may never end
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE * 4 + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise Problems([Problem(path, 1, 1, 1, "missing-file", "this is no path of a file", "name a file")]) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        message = f"byte 0x{raw[error.start]:02X} is not UTF-8"
        problem = Problem(path, line, column, 1, "not-utf-8", message, "save the file as UTF-8")
        raise Problems([problem], {path: raw.decode("utf-8-sig", errors="replace")}) from error


def find(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Every *.scenario.yaml at or below the paths, sorted, each once. Raises Problems for what cannot be read.

    A file that is named by itself counts whatever it is called. Links to folders are not followed.
    """
    found: dict[Path, None] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            below = sorted(_walk(path, problems)) if path.is_dir() else [path]
            path.stat()
        except (OSError, ValueError) as error:
            problems.extend(_unreadable(path, error).problems)
            continue
        found.update(dict.fromkeys(below))
    if problems:
        raise Problems(problems)
    return tuple(found)


def _walk(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    def note(error: OSError) -> None:
        problems.extend(_unreadable(Path(error.filename or folder), error).problems)

    for parent, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent) / name for name in names if name.endswith(SCENARIO_SUFFIX))


def _unreadable(path: Path, error: OSError | ValueError) -> Problems:
    kind = "folder" if os.path.isdir(path) else "file"  # noqa: PTH112 (Path.is_dir raises in a dark folder)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        near = _nearest(path)
        code, message, hint = "missing-file", "there is no such file or folder", near
    elif isinstance(error, PermissionError):
        code, message, hint = "unreadable", f"this {kind} cannot be read", f"allow it: chmod u+rX {_barrier(path)}"
    elif isinstance(error, IsADirectoryError):
        code, message, hint = "unreadable", "this is a folder, not a file", "name a file in it"
    else:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no such path"
        code, message, hint = "unreadable", f"this {kind} cannot be read: {reason}", ""
    return Problems([Problem(path, 1, 1, 1, code, message, hint)])


def _barrier(path: Path) -> Path:
    """The first folder on the way that may not be entered, else the path itself."""
    ways = (folder for folder in reversed(path.parents) if not os.access(folder, os.X_OK))
    return next(ways, path)


def _nearest(path: Path) -> str:
    try:
        near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir() if entry.exists()], n=1)
    except (OSError, ValueError):
        return ""
    return f"did you mean {path.parent / near[0]}?" if near else ""
