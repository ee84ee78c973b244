"""Tolerances: that of a time has a unit, that of a number has none."""

import re

from harness.language.schema import Expect
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, Tree
from harness.quantities import NUMBER, QuantityError, duration_s


def check_time_tolerance(model: Expect, tree: Tree, diagnostics: Diagnostics) -> None:
    """Note a bare number where a time is meant."""
    place = _place(tree)
    if model.within is None or model.within.unit == "s" or place is None:
        return
    bare = next(part.strip() for part in place.text.split("+") if re.fullmatch(NUMBER, part.strip()))
    try:
        duration_s(bare)
    except QuantityError as error:
        diagnostics.add(place.span, "quantity", error.text, error.hint)


def check_number_tolerance(model: Expect, tree: Tree, diagnostics: Diagnostics) -> None:
    """Note a time where a number is meant."""
    place = _place(tree)
    if model.within is not None and model.within.unit == "s" and model.within.absolute > 0 and place is not None:
        diagnostics.add(
            place.span, "unit", "what is bound here is no time", "write a number without a unit, such as 0.08"
        )


def _place(tree: Tree) -> ScalarNode | None:
    place = tree.get("within") if isinstance(tree, MappingNode) else None
    return place if isinstance(place, ScalarNode) else None
