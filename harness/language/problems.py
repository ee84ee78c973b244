"""What is wrong with a scenario: each problem with its place, all of them at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one source line. Lines and columns count from 1, columns in characters."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where, and what to write instead.

    `code` is stable (`unknown-setting`). `hint` is one suggestion for the reader, empty where there is none. `also`
    underlines further places of the same line: the other operand of a unit error.
    """

    path: Path
    line: int
    column: int
    length: int
    code: str
    message: str
    hint: str = ""
    also: tuple[Span, ...] = ()

    @property
    def place(self) -> tuple[str, int, int]:
        return (str(self.path), self.line, self.column)


class Problems(Exception):
    """Everything that is wrong with what was asked for, sorted by place. `sources` holds the files' texts."""

    def __init__(self, problems: Iterable[Problem], sources: dict[Path, str] | None = None) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda p: (*p.place, p.code, p.message)))
        self.sources = sources or {}
        super().__init__("\n".join(f"{p.path}:{p.line}:{p.column}: {p.message}" for p in self.problems))

    def __reduce__(self) -> tuple[type["Problems"], tuple[tuple[Problem, ...], dict[Path, str]]]:
        return (Problems, (self.problems, self.sources))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X?` for the nearest known word, else what is known where that is short, else nothing."""
    names = list(known)
    near = get_close_matches(word, names, n=1, cutoff=0.6)
    if not near:
        folded = {name.casefold(): name for name in names}
        near = [folded[fold] for fold in get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)]
    if near:
        return f"did you mean {near[0]}?"
    return f"one of {', '.join(names)}" if 0 < len(names) <= 12 else ""
