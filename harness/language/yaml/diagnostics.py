"""Collects what is wrong while a scenario is checked: checking goes on, so that all problems come at once."""

from pathlib import Path

from harness.formulas.syntax import FormulaError
from harness.language.yaml.problems import Problem, Span
from harness.language.yaml.tree import ScalarNode, Tree


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

    def formula(self, error: FormulaError, place: Tree, shift: int = 0) -> None:
        """A formula's error at the place of the formula's text; `shift` is where the formula begins in it."""
        spans: list[Span] = []
        for start, end in error.marks:
            inside = place.within(start + shift, end + shift) if isinstance(place, ScalarNode) else (place.span,)
            spans.extend(span for span in inside if span not in spans)
        first, *others = spans or [place.span]
        self.add(first, error.code, error.message, error.hint, tuple(s for s in others if s.line == first.line))
