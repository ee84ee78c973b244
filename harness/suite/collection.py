"""Which scenario files a command line means: files, folders, names of bundled scenarios, or all of those bundled."""

import difflib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

SUFFIX = ".scenario.yaml"


class NotFound(Exception):
    """A word on the command line that is no scenario. `problem` names it, `remedy` what was perhaps meant."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


def bundled() -> tuple[Path, ...]:
    """The scenarios that come with faultlab, wherever it is installed, in the order of their paths."""
    return tuple(sorted(_root().rglob(f"*{SUFFIX}")))


def collect(words: Sequence[str], *, folder: Path) -> tuple[Path, ...]:
    """The files meant by `words` (paths relative to `folder`), each once; no words: all bundled ones.

    A word is a file, a folder (searched through), or a bundled scenario's or client's name. Raises NotFound (one, that
    names every word in vain) and PermissionError for a folder that may not be read.
    """
    if not words:
        return bundled()
    found: dict[Path, None] = {}
    unknown: list[str] = []
    for word in words:
        files_meant = tuple(_meant(word, folder))
        if not files_meant:
            unknown.append(word)
        found.update(dict.fromkeys(files_meant))
    if unknown:
        raise _not_found(unknown, folder)
    return tuple(found)


def _root() -> Path:
    return Path(str(files("scenarios")))


def _meant(word: str, folder: Path) -> Iterable[Path]:
    path = folder / word
    if path.is_dir():
        list(path.iterdir())  # rglob takes a folder that may not be read for an empty one: ask it first
        return (_shown(p, folder) for p in sorted(path.rglob(f"*{SUFFIX}")))
    if path.exists():
        return (_shown(path, folder),)
    root = _root()
    return (p for p in bundled() if word in _names(p.relative_to(root)))


def _shown(path: Path, folder: Path) -> Path:
    """As the user would write it where he stands, so that messages can be clicked."""
    if folder != Path.cwd():
        return path
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def _names(path: Path) -> tuple[str, ...]:
    """What a bundled scenario goes by: `sarama-blackhole`, its folder `sarama`, `sarama/blackhole`."""
    short = path.name.removesuffix(SUFFIX)
    return (f"{path.parent.name}-{short}", path.parent.as_posix(), f"{path.parent.as_posix()}/{short}", short)


def _not_found(unknown: Sequence[str], folder: Path) -> NotFound:
    root = _root()
    names = sorted({name for p in bundled() for name in _names(p.relative_to(root))[:2]})
    empty = [word for word in unknown if (folder / word).is_dir()]
    if empty:
        return NotFound(f"there is no *{SUFFIX} in {empty[0]}", f"scenario files end in {SUFFIX}")
    near = difflib.get_close_matches(unknown[0], names, n=1)
    problem = f"there is no file, folder or bundled scenario {', '.join(unknown)}"
    return NotFound(problem, f"did you mean {near[0]}?" if near else "faultlab list names the bundled ones")
