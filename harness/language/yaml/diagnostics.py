"""Collects problems while a scenario is checked, so that all of them are reported at once."""

from pathlib import Path

from harness.language.yaml.problems import Problem, Span


class Diagnostics:
    """Problems of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []

    def add(self, span: Span, code: str, message: str, hint: str = "", also: tuple[Span, ...] = ()) -> None:
        if span.given:
            self.problems.append(Problem(Path(), 0, 0, 0, code, message, hint, given=span.given))
            return
        self.problems.append(Problem(self.path, span.line, span.column, span.length, code, message, hint, also))
