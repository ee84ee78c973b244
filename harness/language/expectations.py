"""Point expectations: what the measure of every single run is to be."""

from harness.language.bounds import (
    Bound,
    ExpectationContext,
    parse_bound,
    parse_claim,
    parse_when,
    scalar,
    written_bound,
)
from harness.language.measure_reference import measure_of
from harness.language.ranges import parse_range
from harness.language.schema import BETWEEN, BOUND_KINDS, BoundKind, Expect
from harness.language.tolerances import check_number_tolerance, check_time_tolerance
from harness.language.yaml.tree import Tree, at
from harness.measures import MeasureDefinition
from harness.plan import Expectation
from harness.quantities import Tolerance, quote_value
from harness.suggestions import did_you_mean

WORD_KINDS = ("equals", "claim")
"""What a word can be held to: it is no more and no less than another one."""


def expectation(model: Expect, tree: Tree, context: ExpectationContext, *, complete: bool) -> Expectation | None:
    """The expectation, None where it has problems, which are reported.

    An entry that is not `complete` lost unknown keys: a key that seems to be missing may be one of them, misspelt.
    """
    before = context.problems
    definition = measure_of(scalar(tree, "measure"), context)
    if definition is not None and definition.unit == "text":
        found = _word(model, tree, definition, context, complete=complete)
    elif model.between is not None:
        found = _between(model, tree, definition, context)
    else:
        found = parse_bound(model, tree, None if definition is None else definition.unit, context, complete=complete)
    if found is not None and definition is not None and complete:
        _tolerance(model, found, definition.unit, tree, context)
    if model.q is not None:
        where = at(tree, ("q",), key=True)
        context.diagnostics.add(where, "expectation", "`q` belongs to a quantile over many runs", "remove it")
    if found is None or definition is None or context.problems > before:
        return None
    within = model.within or Tolerance(0.0, 0.0)
    named = found.named
    return Expectation(
        measure=scalar(tree, "measure").text.strip(), kind=found.kind, formula=found.text, ends=found.ends,
        within_relative=within.relative, within_absolute=within.absolute, when=found.when, holds=model.holds,
        source=model.source or (named.source if named else ""), name=model.name or (named.name if named else ""),
        line=tree.span.line, bound=found.written,
    )  # fmt: skip


def _between(
    model: Expect, tree: Tree, definition: MeasureDefinition | None, context: ExpectationContext
) -> Bound | None:
    """The range from one end to the other."""
    given = [kind for kind in BOUND_KINDS if getattr(model, kind) is not None]
    if given:
        where = at(tree, (BETWEEN,), key=True)
        message = f"{given[0]} and between at once"
        context.diagnostics.add(where, "expectation", message, f"write one of {', '.join((*BOUND_KINDS, BETWEEN))}")
    found = None if definition is None else parse_range(tree, definition.unit, context)
    when = parse_when(model, tree, None, context)
    parse_claim(model, BETWEEN, tree, context.diagnostics)
    if found is None:
        return None
    text = f"[{', '.join(found.texts)}]"
    return Bound(BETWEEN, text, written_bound(model, BETWEEN, text, tree), None, when, ends=found.texts)


def _word(
    model: Expect, tree: Tree, definition: MeasureDefinition, context: ExpectationContext, *, complete: bool
) -> Bound | None:
    """The word that a measure is to give: `equals: ok`."""
    given = [kind for kind in (*BOUND_KINDS, BETWEEN) if getattr(model, kind) is not None]
    if len(given) != 1 or given[0] not in WORD_KINDS:
        if given or complete:
            where = at(tree, (given[-1],), key=True) if given else tree.span
            message = f"{definition.name} is one of {', '.join(definition.words)}"
            context.diagnostics.add(where, "expectation", message, f"write equals: {definition.words[0]}")
        return None
    place = scalar(tree, given[0])
    word = place.text.strip()
    if word not in definition.words:
        hint = "write ok" if word == "acknowledged" else did_you_mean(word, definition.words)
        context.diagnostics.add(place.span, "unknown-value", f"{definition.name} is never {quote_value(word)}", hint)
    if complete:
        parse_claim(model, given[0], tree, context.diagnostics)
    kind: BoundKind = "claim" if given[0] == "claim" else "equals"
    when = parse_when(model, tree, None, context)
    return Bound(kind, word, written_bound(model, kind, word, tree), None, when)


def _tolerance(model: Expect, found: Bound, unit: str, tree: Tree, context: ExpectationContext) -> None:
    if unit == "text" and model.within is not None:
        where = at(tree, ("within",), key=True)
        context.diagnostics.add(where, "expectation", "a word has no tolerance", "remove `within`")
    elif unit == "count":
        check_number_tolerance(model, tree, context.diagnostics)
    elif unit == "s" and model.within is None and found.kind in ("equals", "claim"):
        where = at(tree, (found.kind,), key=True)
        context.diagnostics.add(where, "missing-within", "a time needs a tolerance", "add within: 1% + 50ms")
    elif unit == "s":
        check_time_tolerance(model, tree, context.diagnostics)
