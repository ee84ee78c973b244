"""What is wrong with a scenario: each problem with its place, all of them at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one source line. Lines and columns count from 1, columns in characters.

    `given` is the option of the command line that put there what stands there, empty where the file did.
    """

    line: int
    column: int
    length: int = 1
    given: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where, and what to write instead.

    `code` is stable (`unknown-setting`). `hint` is one suggestion for the reader, empty where there is none. `also`
    underlines further places of the same line: the other operand of a unit error. What is wrong with an option of the
    command line is in no file: `given` is that option, `path` is empty, and lines and columns are 0.
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
    """Everything that is wrong with what was asked for, sorted by place. `sources` holds the files' texts."""

    def __init__(self, problems: Iterable[Problem], sources: dict[Path, str] | None = None) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda p: (*p.place, p.code, p.message)))
        self.sources = sources or {}
        super().__init__("\n".join(f"{p.where}: {p.message}" for p in self.problems))

    def __reduce__(self) -> tuple[type["Problems"], tuple[tuple[Problem, ...], dict[Path, str]]]:
        return (Problems, (self.problems, self.sources))
