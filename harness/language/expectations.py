"""Point expectations: what the measure of every single run is to be."""

from harness.language.bounds import Bound, ExpectationContext, parse_bound, scalar
from harness.language.measure_reference import measure_of
from harness.language.schema import Expect
from harness.language.tolerances import check_time_tolerance
from harness.language.yaml.tree import Tree, at
from harness.plan import Expectation
from harness.quantities import Tolerance


def expectation(model: Expect, tree: Tree, context: ExpectationContext, *, complete: bool) -> Expectation | None:
    """The expectation, None where it has problems, which are reported.

    An entry that is not `complete` lost unknown keys: a key that seems to be missing may be one of them, misspelt.
    """
    before = context.problems
    definition = measure_of(scalar(tree, "measure"), context)
    unit = definition.unit if definition is not None else None
    found = parse_bound(model, tree, unit, context, complete=complete)
    if found is not None and unit is not None and complete:
        _tolerance(model, found, unit, tree, context)
    for key in ("q", "between"):
        if getattr(model, key) is not None:
            where = at(tree, (key,), key=True)
            context.diagnostics.add(
                where, "expectation", f"`{key}` belongs to what is expected of many runs", "remove it"
            )
    if found is None or unit is None or context.problems > before:
        return None
    within = model.within or Tolerance(0.0, 0.0)
    named = found.named
    return Expectation(
        measure=scalar(tree, "measure").text.strip(), kind=found.kind, formula=found.text,
        within_relative=within.relative, within_absolute=within.absolute, when=found.when, holds=model.holds,
        source=model.source or (named.source if named else ""), name=model.name or (named.name if named else ""),
        line=tree.span.line, bound=found.written,
    )  # fmt: skip


def _tolerance(model: Expect, found: Bound, unit: str, tree: Tree, context: ExpectationContext) -> None:
    if unit == "count" and model.within is not None:
        where = at(tree, ("within",), key=True)
        context.diagnostics.add(where, "count-within", "counts are exact", "remove `within`")
    elif unit == "s" and model.within is None and found.kind in ("equals", "claim"):
        where = at(tree, (found.kind,), key=True)
        context.diagnostics.add(where, "missing-within", "a time needs a tolerance", "add within: 1% + 50ms")
    elif unit == "s":
        check_time_tolerance(model, tree, context.diagnostics)
