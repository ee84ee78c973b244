"""Turns a formula's error, which has offsets into a text, into a problem with a place in the file."""

from harness.formulas.syntax import FormulaError
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import ScalarNode


def report_formula_error(error: FormulaError, node: ScalarNode, diagnostics: Diagnostics) -> None:
    """Report the error at the node whose text is the formula. Marks on later lines are left out."""
    spans: list[Span] = []
    for start, end in error.marks:
        spans.extend(span for span in node.within(start, end) if span not in spans)
    first, *others = spans or [node.span]
    diagnostics.add(first, error.code, error.message, error.hint, tuple(s for s in others if s.line == first.line))
