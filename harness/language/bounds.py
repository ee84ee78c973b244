"""The bound of an expectation: one formula of the right unit, the condition that it is under, and a claim's source."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.formulas.evaluate import Evaluated, Formula, evaluate_condition
from harness.formulas.scope import Scope
from harness.formulas.syntax import FormulaError
from harness.formulas.values import UNIT_NAMES, duration, number
from harness.language.named import SUM, NamedFormula, cited
from harness.language.schema import BOUND_KINDS, BoundKind, Expect
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, Tree, at
from harness.plan import RunPlan
from harness.quantities import quote_value
from harness.suggestions import did_you_mean

UNIT_EXPECTATIONS = {
    "s": "the measure is a duration",
    "count": "the measure is a number",
    "share": "a share is a number",
}


@dataclass(frozen=True, slots=True)
class ExpectationContext:
    """What expectations of a cell are checked against.

    `aliases` says what each step does, `healed` which faults end before the run does; `formulas` are those that can be
    cited, None where their file is missing or wrong, `formula_diagnostics` takes what is wrong in them. `plan` and
    `scope` are None where the client is not known.
    """

    aliases: Mapping[str, str]
    formulas: Mapping[str, NamedFormula] | None
    diagnostics: Diagnostics
    formula_diagnostics: Diagnostics
    plan: RunPlan | None
    scope: Scope | None
    healed: frozenset[str] = frozenset()
    invalid_aliases: frozenset[str] = frozenset()

    @property
    def problems(self) -> int:
        """How many there are so far."""
        return len(self.diagnostics.problems) + len(self.formula_diagnostics.problems)


@dataclass(frozen=True, slots=True)
class Bound:
    """`text` is the formula's; `named` where it is one of formulas.yaml."""

    kind: BoundKind
    text: str
    named: NamedFormula | None
    when: str | None


def parse_bound(
    model: Expect, tree: Tree, unit: str | None, context: ExpectationContext, *, complete: bool
) -> Bound | None:
    """The bound, None where none can be told; what is wrong with it is noted.

    Where the entry is not `complete`, keys were left out as unknown: what is missing may be what they meant.
    """
    kind = _kind(model, tree, context.diagnostics, complete=complete)
    if kind is None:
        return None
    place = scalar(tree, kind)
    name = cited(place.text)
    named = _named(name, place, context) if name is not None else None
    if name is None:
        _check(place, unit, context)
    elif named is not None:
        _check_named(named, place, unit, context)
    when = _when(model, tree, named, context)
    if complete:
        _claim(model, kind, tree, context.diagnostics)
    return Bound(kind, named.text if named else place.text, named, when)


def scalar(tree: Tree, key: str) -> ScalarNode:
    """The value of a key that the schema takes for a text or a number."""
    value = tree.get(key) if isinstance(tree, MappingNode) else None
    assert isinstance(value, ScalarNode), "the schema lets texts and numbers through, nothing else"
    return value


def _kind(model: Expect, tree: Tree, diagnostics: Diagnostics, *, complete: bool) -> BoundKind | None:
    given = [kind for kind in BOUND_KINDS if getattr(model, kind) is not None]
    if len(given) == 1:
        return given[0]
    if not given and not complete:
        return None
    where = at(tree, (given[1],), key=True) if given else tree.span
    message = f"{' and '.join(given)} at once" if given else "nothing says what the measure should be"
    diagnostics.add(where, "expectation", message, f"write one of {', '.join(BOUND_KINDS)}")
    return None


def _named(name: str, place: ScalarNode, context: ExpectationContext) -> NamedFormula | None:
    if context.formulas is None:
        return None
    if name not in context.formulas:
        if context.formulas or os.path.lexists(context.formula_diagnostics.path):
            message = f"formulas.yaml has no formula {quote_value(name)}"
            hint = did_you_mean(name, context.formulas)
        else:
            message = f"formula {quote_value(name)} is looked for in formulas.yaml beside this file, and there is none"
            hint = "write the formula itself"
        context.diagnostics.add(place.span, "unknown-formula", message, hint)
        return None
    return context.formulas[name]


def _check(place: ScalarNode, unit: str | None, context: ExpectationContext) -> None:
    try:
        formula = Formula.parse(place.text)
        if context.scope is not None:
            _check_unit(formula.evaluate(context.scope), unit, len(place.text))
    except FormulaError as error:
        if not caused_by_invalid_step(error, place.text, context):
            context.diagnostics.formula(error, place)


def _check_named(named: NamedFormula, place: ScalarNode, unit: str | None, context: ExpectationContext) -> None:
    """What is wrong inside is noted where it is written; a unit that does not fit the measure, where it is cited."""
    try:
        if context.scope is None:
            return
        evaluated = Formula.parse(named.text).evaluate(context.scope)
    except FormulaError as error:
        if caused_by_invalid_step(error, named.text, context):
            return
        term, begin = named.term_at(min((start for start, _ in error.marks), default=0))
        marks = tuple((max(a - begin, 0), min(b - begin, len(term.text))) for a, b in error.marks if a >= begin)
        context.formula_diagnostics.formula(
            FormulaError(error.code, error.message, error.hint, marks=marks), term.place
        )
        return
    try:
        _check_unit(evaluated, unit, len(place.text))
    except FormulaError as error:
        context.diagnostics.formula(error, place)


def _check_unit(evaluated: Evaluated, unit: str | None, length: int) -> None:
    if unit is not None and evaluated.unit != ("count" if unit == "share" else unit):
        message = f"{UNIT_EXPECTATIONS[unit]}, the formula {UNIT_NAMES[evaluated.unit]}"
        raise FormulaError("unit", message, _unit_hint(evaluated, unit), marks=((0, length),))


def _unit_hint(evaluated: Evaluated, unit: str) -> str:
    if unit == "s" and evaluated.unit == "count":
        return "write a unit (3s), or multiply by a duration"
    return {"count": "count things, or divide by a duration", "share": "write 1/6 or 0.9"}.get(unit, "")


def caused_by_invalid_step(error: FormulaError, text: str, context: ExpectationContext) -> bool:
    """Whether an unknown name is only unknown because its step is wrong, which is noted already."""
    names = {text[start:end].split(".")[0] for start, end in error.marks}
    return error.code == "unknown-name" and bool(names & context.invalid_aliases)


def _when(model: Expect, tree: Tree, named: NamedFormula | None, context: ExpectationContext) -> str | None:
    conditions: list[str] = []
    if named is not None and named.holds_when is not None:
        conditions.append(named.holds_when)
        assert isinstance(named.condition, ScalarNode)
        check_condition(named.condition, _with_sum(context, named), context.formula_diagnostics)
    if model.when is not None:
        place = scalar(tree, "when")
        conditions.append(place.text)
        check_condition(place, context, context.diagnostics)
    return " and ".join(f"({text})" for text in conditions) if len(conditions) > 1 else next(iter(conditions), None)


def _with_sum(context: ExpectationContext, named: NamedFormula) -> ExpectationContext:
    """The same where the formula's condition may speak of the formula. What is wrong in that one is noted there."""
    assert isinstance(named.condition, ScalarNode)
    if context.scope is None or not SUM.search(named.condition.text):
        return context
    try:
        whole = Formula.parse(named.text).evaluate(context.scope)
    except FormulaError:
        return replace(context, scope=None)
    value = duration("sum", whole.number) if whole.unit == "s" else number(whole.number)
    return replace(
        context, scope=replace(context.scope, other_names={**context.scope.other_names, "sum": value}, known={})
    )


def check_condition(place: ScalarNode, context: ExpectationContext, diagnostics: Diagnostics) -> None:
    try:
        formula = Formula.parse(place.text)
        if context.scope is not None:
            evaluate_condition(formula, context.scope)
    except FormulaError as error:
        if not caused_by_invalid_step(error, place.text, context):
            diagnostics.formula(error, place)


def _claim(model: Expect, kind: BoundKind, tree: Tree, diagnostics: Diagnostics) -> None:
    if kind == "claim" and not model.source:
        where = at(tree, ("claim",), key=True)
        diagnostics.add(
            where, "missing-source", "a claim comes from somebody's text", "add source: who said it, and when"
        )
    if kind != "claim" and model.holds is not None:
        diagnostics.add(at(tree, ("holds",), key=True), "claim", "`holds` belongs to a claim", "write claim: instead")
