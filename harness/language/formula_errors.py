"""A formula's error, which knows offsets into a text, as a problem of the file in which that text stands."""

from harness.formulas.syntax import FormulaError
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import ScalarNode


def report_formula_error(error: FormulaError, node: ScalarNode, diagnostics: Diagnostics) -> None:
    """Note the error of the formula that is the node's text; of all its marks, those on the first one's line."""
    spans: list[Span] = []
    for start, end in error.marks:
        spans.extend(span for span in node.within(start, end) if span not in spans)
    first, *others = spans or [node.span]
    diagnostics.add(first, error.code, error.message, error.hint, tuple(s for s in others if s.line == first.line))
