"""The bound of an expectation: one formula of the right unit, the condition that it is under, and a claim's source."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from harness.formulas.evaluate import Evaluated, Formula, evaluate_condition
from harness.formulas.named import NamedFormula, cited
from harness.formulas.scope import Scope
from harness.formulas.syntax import FormulaError
from harness.formulas.values import UNIT_NAMES
from harness.language.formula_errors import report_formula_error
from harness.language.formula_library import FormulaLibrary, FormulaNotFound
from harness.language.formulas_file import LocatedFormula
from harness.language.schema import BOUND_KINDS, BoundKind, Expect
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, Tree, at
from harness.plan import RunPlan

UNIT_EXPECTATIONS = {
    "s": "the measure is a duration",
    "count": "the measure is a number",
    "share": "a share is a number",
}


@dataclass(frozen=True, slots=True)
class ExpectationContext:
    """What expectations of a cell are checked against.

    `aliases` says what each step does, `healed` which faults end before the run does; `library` has the formulas that
    can be cited, and collects problems inside them. `plan` and `scope` are None where the client is not known.
    """

    aliases: Mapping[str, str]
    library: FormulaLibrary
    diagnostics: Diagnostics
    plan: RunPlan | None
    scope: Scope | None
    healed: frozenset[str] = frozenset()
    invalid_aliases: frozenset[str] = frozenset()

    @property
    def problems(self) -> int:
        """How many there are so far."""
        return len(self.diagnostics.problems) + len(self.library.problems)


@dataclass(frozen=True, slots=True)
class Bound:
    """`text` is the formula's, or what was written of a word or a range; `named` where the formula is cited by name;
    `written` is the bound as the file has it. `ends` are a range's."""

    kind: BoundKind | Literal["between"]
    text: str
    written: str
    named: NamedFormula | None
    when: str | None
    ends: tuple[str, ...] = ()


def parse_bound(
    model: Expect, tree: Tree, unit: str | None, context: ExpectationContext, *, complete: bool
) -> Bound | None:
    """The bound, None where it is unclear. Problems are reported.

    An entry that is not `complete` lost unknown keys: a key that seems to be missing may be one of them, misspelt.
    """
    kind = _kind(model, tree, context.diagnostics, complete=complete)
    if kind is None:
        return None
    place = scalar(tree, kind)
    name = cited(place.text)
    located = _find(name, place, context) if name is not None else None
    if name is None:
        _check(place, unit, context)
    elif located is not None:
        _check_cited(located, place, unit, context)
    when = parse_when(model, tree, located, context)
    if complete:
        parse_claim(model, kind, tree, context.diagnostics)
    named = located.formula if located is not None else None
    return Bound(kind, named.text if named else place.text, written_bound(model, kind, place.text, tree), named, when)


def written_bound(model: Expect, kind: str, text: str, tree: Tree) -> str:
    """`equals: formula(a_name), within: 1% + 50ms`, on one line."""
    within = f", within: {scalar(tree, 'within').text}" if model.within is not None else ""
    return " ".join(f"{kind}: {text}{within}".split())


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


def _find(name: str, place: ScalarNode, context: ExpectationContext) -> LocatedFormula | None:
    if context.plan is None:
        return None  # the client decides where formulas are found, and its problem was reported
    try:
        return context.library.find(name, context.plan.client.profile)
    except FormulaNotFound as error:
        context.diagnostics.add(place.span, "unknown-formula", error.message, error.hint)
        return None


def _check(place: ScalarNode, unit: str | None, context: ExpectationContext) -> None:
    try:
        formula = Formula.parse(place.text)
        if context.scope is not None:
            _check_unit(formula.evaluate(context.scope), unit, len(place.text))
    except FormulaError as error:
        if not caused_by_invalid_step(error, place.text, context):
            report_formula_error(error, place, context.diagnostics)


def _check_cited(located: LocatedFormula, place: ScalarNode, unit: str | None, context: ExpectationContext) -> None:
    """Report an error inside the formula at the formula's own place, and a wrong unit where it is cited."""
    try:
        if context.scope is None:
            return
        evaluated = Formula.parse(located.formula.text).evaluate(context.scope)
    except FormulaError as error:
        if not caused_by_invalid_step(error, located.formula.text, context):
            _report_inside(located, error, context)
        return
    try:
        _check_unit(evaluated, unit, len(place.text))
    except FormulaError as error:
        report_formula_error(error, place, context.diagnostics)


def _report_inside(located: LocatedFormula, error: FormulaError, context: ExpectationContext) -> None:
    """Note the error at the term in which it begins."""
    index, begin = located.formula.term_at(min((start for start, _ in error.marks), default=0))
    term = located.terms[index]
    marks = tuple((max(a - begin, 0), min(b - begin, len(term.text))) for a, b in error.marks if a >= begin)
    marked = FormulaError(error.code, error.message, error.hint, marks=marks)
    report_formula_error(marked, term, context.library.diagnostics(located.path))


def _check_unit(evaluated: Evaluated, unit: str | None, length: int) -> None:
    if unit is not None and evaluated.unit != ("count" if unit == "share" else unit):
        message = f"{UNIT_EXPECTATIONS[unit]}, the formula {UNIT_NAMES[evaluated.unit]}"
        raise FormulaError("unit", message, _unit_hint(evaluated, unit), marks=((0, length),))


def _unit_hint(evaluated: Evaluated, unit: str) -> str:
    if unit == "s" and evaluated.unit == "count":
        return "write a unit (3s), or multiply by a duration"
    return {"count": "count things, or divide by a duration", "share": "write 1/6 or 0.9"}.get(unit, "")


def caused_by_invalid_step(error: FormulaError, text: str, context: ExpectationContext) -> bool:
    """Whether a name is unknown only because its step has a problem, which was reported already."""
    names = {text[start:end].split(".")[0] for start, end in error.marks}
    return error.code == "unknown-name" and bool(names & context.invalid_aliases)


def parse_when(model: Expect, tree: Tree, located: LocatedFormula | None, context: ExpectationContext) -> str | None:
    """The condition that a bound is under: its own, and that of the formula that it cites. Problems are reported."""
    conditions: list[str] = []
    if located is not None and located.formula.holds_when is not None:
        assert located.condition is not None
        conditions.append(located.formula.holds_when)
        inside = _context_of_condition(located, context)
        check_condition(located.condition, inside, context.library.diagnostics(located.path))
    if model.when is not None:
        place = scalar(tree, "when")
        conditions.append(place.text)
        check_condition(place, context, context.diagnostics)
    return " and ".join(f"({text})" for text in conditions) if len(conditions) > 1 else next(iter(conditions), None)


def _context_of_condition(located: LocatedFormula, context: ExpectationContext) -> ExpectationContext:
    """The context with the formula's `sum` in scope; without a scope where the formula cannot be evaluated."""
    if context.scope is None:
        return context
    try:
        return replace(context, scope=located.formula.condition_scope(context.scope))
    except FormulaError:
        return replace(context, scope=None)


def check_condition(place: ScalarNode, context: ExpectationContext, diagnostics: Diagnostics) -> None:
    try:
        formula = Formula.parse(place.text)
        if context.scope is not None:
            evaluate_condition(formula, context.scope)
    except FormulaError as error:
        if not caused_by_invalid_step(error, place.text, context):
            report_formula_error(error, place, diagnostics)


def parse_claim(model: Expect, kind: str, tree: Tree, diagnostics: Diagnostics) -> None:
    """Report a claim that nobody made, and `holds` beside what is no claim."""
    if kind == "claim" and not model.source:
        where = at(tree, ("claim",), key=True)
        diagnostics.add(
            where, "missing-source", "a claim needs the text that it comes from", "add source: who said it, and when"
        )
    if kind != "claim" and model.holds is not None:
        diagnostics.add(at(tree, ("holds",), key=True), "claim", "`holds` belongs to a claim", "write claim: instead")
