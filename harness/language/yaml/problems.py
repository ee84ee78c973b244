"""Problems of a scenario, each with its place."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one source line. Lines and columns count from 1, columns in characters.

    `given` is the command-line option that the value came from, empty for a value of the file.
    """

    line: int
    column: int
    length: int = 1
    given: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: where, what, and what to write instead.

    `code` is stable (`unknown-setting`). `hint` is one suggestion, or empty. `also` underlines further places of the
    same line, such as the other operand of a unit error. For a problem of a command-line option, `given` is the option,
    `path` is empty, and lines and columns are 0.
    """

    path: Path
    line: int
    column: int
    length: int
    code: str
    message: str
    hint: str = ""
    also: tuple[Span, ...] = ()
    given: str = ""

    @property
    def place(self) -> tuple[str, int, int]:
        return (str(self.path), self.line, self.column)

    @property
    def where(self) -> str:
        """`path:line:column`, or the option."""
        return self.given or f"{self.path}:{self.line}:{self.column}"


class Problems(Exception):
    """All problems of one request, sorted by place. `sources` holds the files' texts."""

    def __init__(self, problems: Iterable[Problem], sources: dict[Path, str] | None = None) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda p: (*p.place, p.code, p.message)))
        self.sources = sources or {}
        super().__init__("\n".join(f"{p.where}: {p.message}" for p in self.problems))

    def __reduce__(self) -> tuple[type["Problems"], tuple[tuple[Problem, ...], dict[Path, str]]]:
        return (Problems, (self.problems, self.sources))
