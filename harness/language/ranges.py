"""Ranges: `between: [1s, 2s]`, both ends formulas of one unit."""

from dataclasses import dataclass

from harness.formulas.evaluate import Formula
from harness.formulas.syntax import FormulaError
from harness.formulas.values import UNIT_NAMES
from harness.language.bounds import ExpectationContext
from harness.language.formula_errors import report_formula_error
from harness.language.schema import BETWEEN
from harness.language.yaml.tree import MappingNode, ScalarNode, SequenceNode, Tree


@dataclass(frozen=True, slots=True)
class Range:
    """Both ends as written, and their values."""

    texts: tuple[str, str]
    low: float
    high: float


def parse_range(tree: Tree, unit: str, context: ExpectationContext) -> Range | None:
    """The range of an entry that has one; None where it has a problem or the client is not known."""
    listed = tree.get(BETWEEN) if isinstance(tree, MappingNode) else None
    assert isinstance(listed, SequenceNode), "the schema lets lists through, nothing else"
    places = [place for place in listed.items if isinstance(place, ScalarNode)]
    low, high = (_end(place, unit, context) for place in places)
    if low is None or high is None:
        return None
    if low >= high:
        context.diagnostics.add(
            listed.span, "range", "the second end is not above the first one", "write [least, most]"
        )
        return None
    return Range((places[0].text, places[1].text), low, high)


def _end(place: ScalarNode, unit: str, context: ExpectationContext) -> float | None:
    """An end's value, None where it has a problem or the client is not known."""
    try:
        formula = Formula.parse(place.text)
        if context.scope is None:
            return None
        found = formula.evaluate(context.scope)
        if found.unit != unit:
            message = f"the measure is {UNIT_NAMES['s' if unit == 's' else 'count']}, this end {UNIT_NAMES[found.unit]}"
            raise FormulaError("unit", message, marks=((0, len(place.text)),))
        return found.number
    except FormulaError as error:
        report_formula_error(error, place, context.diagnostics)
        return None
