"""Which scenario files a command line means: files, folders, names of bundled scenarios, or all of those bundled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from harness.language import Problems, find
from harness.language.yaml.files import SCENARIO_SUFFIX
from harness.suggestions import did_you_mean
from harness.suite.problem_collector import ProblemCollector


@dataclass(frozen=True, slots=True)
class FoundScenario:
    """A scenario file. `named`: it was asked for by name, not as part of a folder or of all."""

    path: Path
    named: bool


class ScenarioNotFound(Exception):
    """A word on the command line that is no scenario. `problem` names it, `remedy` what was perhaps meant."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


def bundled() -> tuple[Path, ...]:
    """The scenarios that come with faultlab, wherever it is installed, in the order of their paths."""
    return tuple(sorted(_root().rglob(f"*{SCENARIO_SUFFIX}")))


def collect(words: Sequence[str], *, folder: Path) -> tuple[FoundScenario, ...]:
    """The files meant by `words` (paths relative to `folder`), each once; no words: all bundled ones.

    A word is a file, a folder (searched through), or a bundled scenario's or client's name. Raises Problems for paths
    that are missing or cannot be read, ScenarioNotFound for words that mean nothing.
    """
    if not words:
        return tuple(FoundScenario(path, named=False) for path in bundled())
    found: dict[Path, bool] = {}
    wrong, unknown = ProblemCollector(), list[str]()
    for word in words:
        try:
            meant = tuple(_matching_files(word, folder)) if word else ()
        except Problems as problems:
            wrong.add(problems)
            continue
        if not meant:
            unknown.append(word)
        for one in meant:
            found[one.path] = found.get(one.path, False) or one.named
    wrong.raise_any()
    if unknown:
        raise _not_found(unknown[0], folder)
    return tuple(FoundScenario(path, named) for path, named in found.items())


def _root() -> Path:
    return Path(str(files("scenarios")))


def _matching_files(word: str, folder: Path) -> Iterator[FoundScenario]:
    path = folder / word
    if path.exists() or "/" in word or word.endswith((".yaml", ".yml")):
        # As the user would write it where he stands, so that messages can be clicked.
        shown = Path(word) if folder == Path.cwd() else path
        named = not path.is_dir()
        yield from (FoundScenario(one, named) for one in find([shown]))
        return
    root = _root()
    for one in bundled():
        below = one.relative_to(root)
        if word in _names(below):
            yield FoundScenario(one, named=word != below.parent.as_posix())


def _names(below: Path) -> tuple[str, ...]:
    """What a bundled scenario goes by: its folder `sarama`, `sarama-blackhole`, `blackhole`."""
    short = below.name.removesuffix(SCENARIO_SUFFIX)
    return (below.parent.as_posix(), f"{below.parent.name}-{short}", short)


def _not_found(word: str, folder: Path) -> ScenarioNotFound:
    if not word:
        return ScenarioNotFound(
            "an empty word names no scenario", "is a variable not set? `.` is the folder that you are in"
        )
    if (folder / word).is_dir():
        return ScenarioNotFound(
            f"there is no scenario in {word}, which is a folder", f"scenario files end in {SCENARIO_SUFFIX}"
        )
    root = _root()
    names = {name for path in bundled() for name in _names(path.relative_to(root))}
    names |= {entry.name for entry in folder.iterdir() if _is_there(entry)} if folder.is_dir() else set()
    hint = did_you_mean(word, sorted(names))
    return ScenarioNotFound(
        f"there is no file, folder or bundled scenario called {word}", hint or "faultlab list names the bundled ones"
    )


def _is_there(path: Path) -> bool:
    """Not so for a link that leads nowhere, or to itself."""
    try:
        return path.exists()
    except OSError:
        return False
