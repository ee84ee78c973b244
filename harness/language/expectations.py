"""Expectations: the measure exists, the formula has its unit, a time has a tolerance, a claim has a source."""

from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass

from harness.language.formulas import Evaluated, Formula, truth
from harness.language.named import NamedFormula, cited
from harness.language.notes import Notes
from harness.language.problems import did_you_mean
from harness.language.schema import KINDS, Expect, Kind
from harness.language.scope import Scope
from harness.language.syntax import FormulaError
from harness.language.tree import Mapping, Scalar, Tree, at
from harness.language.units import WORDS
from harness.measures import MEASURES, MeasureName
from harness.measures import parse as parse_measure
from harness.operations import OPERATIONS
from harness.plan import Expectation
from harness.quantities import Tolerance, shown


@dataclass(frozen=True, slots=True)
class Context:
    """What expectations of a cell are checked against.

    `aliases` says what each step does; `formulas` are those that can be cited, None where their file is missing or
    wrong, `notes_of_formulas` takes what is wrong in them. `scope` is None where the client is not known.
    """

    aliases: AbstractMapping[str, str]
    formulas: AbstractMapping[str, NamedFormula] | None
    notes: Notes
    notes_of_formulas: Notes
    scope: Scope | None
    doubtful: frozenset[str] = frozenset()


def expectation(model: Expect, tree: Tree, context: Context, *, complete: bool) -> Expectation | None:
    """The expectation, None where it is wrong: then notes say why.

    Where it is not `complete`, keys were left out as unknown: what is missing may be what they meant.
    """
    before = len(context.notes.problems) + len(context.notes_of_formulas.problems)
    kind = _kind(model, tree, context.notes, complete=complete)
    unit = _measured_unit(model, tree, context)
    if kind is None:
        return None
    place = _scalar(tree, kind)
    name = cited(place.text)
    named = _named(name, place, context) if name is not None else None
    if name is None:
        _check(place, unit, context)
    elif named is not None:
        _check_named(named, place, unit, context)
    when = _when(model, tree, named, context)
    if unit is not None and complete:
        _tolerance(model, kind, unit, tree, context.notes)
    if complete:
        _claim(model, kind, tree, context.notes)
    if len(context.notes.problems) + len(context.notes_of_formulas.problems) > before or unit is None:
        return None
    within = model.within or Tolerance(0.0, 0.0)
    return Expectation(
        measure=model.measure.strip(), kind=kind, formula=named.text if named else place.text,
        within_relative=within.relative, within_absolute=within.absolute_s, when=when, holds=model.holds,
        source=model.source or (named.source if named else ""), name=model.name or (named.name if named else ""),
        line=tree.span.line,
    )  # fmt: skip


def _scalar(tree: Tree, key: str) -> Scalar:
    value = tree.get(key) if isinstance(tree, Mapping) else None
    assert isinstance(value, Scalar), "the schema lets texts and numbers through, nothing else"
    return value


def _kind(model: Expect, tree: Tree, notes: Notes, *, complete: bool) -> Kind | None:
    given = [kind for kind in KINDS if getattr(model, kind) is not None]
    if len(given) == 1:
        return given[0]
    if not given and not complete:
        return None
    where = at(tree, (given[1],), key=True) if given else tree.span
    message = f"{' and '.join(given)} at once" if given else "nothing says what the measure should be"
    notes.add(where, "expectation", message, f"write one of {', '.join(KINDS)}")
    return None


def _measured_unit(model: Expect, tree: Tree, context: Context) -> str | None:
    notes, where = context.notes, _scalar(tree, "measure")
    try:
        name = parse_measure(model.measure)
    except ValueError:
        hint = "write probe.time_to_error, where a step is called probe"
        notes.add(where.span, "unknown-measure", f"{shown(model.measure)} is not spelt <step>.<measure>", hint)
        return None
    definition = MEASURES.get(name.measure)
    operations = {alias: kind[3:] for alias, kind in context.aliases.items() if kind.startswith("do ")}
    if name.alias not in operations:
        message = f"no operation is called {shown(name.alias)}"
        place = where.within(0, len(name.alias))[0]
        notes.add(place, "unknown-alias", message, did_you_mean(name.alias, operations))
    if definition is None:
        start = len(name.alias) + 1
        place = where.within(start, start + len(name.measure))[0]
        hint = did_you_mean(name.measure, MEASURES)
        notes.add(place, "unknown-measure", f"there is no measure {shown(name.measure)}", hint)
        return None
    operation = operations.get(name.alias)
    if operation in OPERATIONS and operation not in definition.operations:
        fitting = [m.name for m in MEASURES.values() if operation in m.operations]
        message = f"{name.measure} is measured of {', '.join(definition.operations)}, and {name.alias} is {operation}"
        notes.add(where.span, "unfit-measure", message, f"for {operation}: {', '.join(fitting)}")
    _argument(name, definition.argument is not None, where, context)
    return definition.unit


def _argument(name: MeasureName, wanted: bool, where: Scalar, context: Context) -> None:
    if (name.argument is not None) != wanted:
        message = f"{name.measure} takes {'a setting' if wanted else 'nothing'} in brackets"
        hint = f"write {name.alias}.{name.measure}" + ("(Net.ReadTimeout)" if wanted else "")
        context.notes.add(where.span, "unknown-measure", message, hint)
    elif name.argument is not None and context.scope is not None:
        start = len(name.alias) + len(name.measure) + 2
        try:
            context.scope.find_setting(name.argument)
        except FormulaError as error:
            marks = ((start, start + len(name.argument)),)
            context.notes.formula(FormulaError(error.code, error.message, error.hint, marks=marks), where)


def _named(name: str, place: Scalar, context: Context) -> NamedFormula | None:
    if context.formulas is None:
        return None
    if name not in context.formulas:
        hint = did_you_mean(name, context.formulas)
        context.notes.add(place.span, "unknown-formula", f"formulas.yaml has no formula {shown(name)}", hint)
        return None
    return context.formulas[name]


def _check(place: Scalar, unit: str | None, context: Context) -> None:
    try:
        formula = Formula.parse(place.text)
        if context.scope is not None:
            _check_unit(formula.evaluate(context.scope), unit, len(place.text))
    except FormulaError as error:
        if not _follows(error, place.text, context):
            context.notes.formula(error, place)


def _check_named(named: NamedFormula, place: Scalar, unit: str | None, context: Context) -> None:
    """What is wrong inside is noted where it is written; a unit that does not fit the measure, where it is cited."""
    try:
        if context.scope is None:
            return
        evaluated = Formula.parse(named.text).evaluate(context.scope)
    except FormulaError as error:
        if _follows(error, named.text, context):
            return
        term, begin = named.term_at(min((start for start, _ in error.marks), default=0))
        marks = tuple((max(a - begin, 0), min(b - begin, len(term.text))) for a, b in error.marks if a >= begin)
        context.notes_of_formulas.formula(FormulaError(error.code, error.message, error.hint, marks=marks), term.place)
        return
    try:
        _check_unit(evaluated, unit, len(place.text))
    except FormulaError as error:
        context.notes.formula(error, place)


def _check_unit(evaluated: Evaluated, unit: str | None, length: int) -> None:
    if unit is not None and evaluated.unit != unit:
        message = f"the measure is {WORDS['s' if unit == 's' else 'count']}, the formula {WORDS[evaluated.unit]}"
        raise FormulaError("unit", message, _unit_hint(evaluated, unit), marks=((0, length),))


def _unit_hint(evaluated: Evaluated, unit: str) -> str:
    if unit == "s" and evaluated.unit == "count":
        return "write a unit (3s), or multiply by a duration"
    return "count things, or divide by a duration" if unit == "count" else ""


def _follows(error: FormulaError, text: str, context: Context) -> bool:
    """Whether an unknown name is only unknown because its step is wrong, which is noted already."""
    names = {text[start:end].split(".")[0] for start, end in error.marks}
    return error.code == "unknown-name" and bool(names & context.doubtful)


def _when(model: Expect, tree: Tree, named: NamedFormula | None, context: Context) -> str | None:
    conditions: list[str] = []
    if named is not None and named.holds_when is not None:
        conditions.append(named.holds_when)
        assert isinstance(named.condition, Scalar)
        _check_condition(named.condition, context, context.notes_of_formulas)
    if model.when is not None:
        place = _scalar(tree, "when")
        conditions.append(place.text)
        _check_condition(place, context, context.notes)
    return " and ".join(f"({text})" for text in conditions) if len(conditions) > 1 else next(iter(conditions), None)


def _check_condition(place: Scalar, context: Context, notes: Notes) -> None:
    try:
        formula = Formula.parse(place.text)
        if context.scope is not None:
            truth(formula, context.scope)
    except FormulaError as error:
        if not _follows(error, place.text, context):
            notes.formula(error, place)


def _tolerance(model: Expect, kind: Kind, unit: str, tree: Tree, notes: Notes) -> None:
    if unit == "count" and model.within is not None:
        notes.add(at(tree, ("within",), key=True), "count-within", "counts are exact", "remove `within`")
    if unit == "s" and model.within is None and kind in ("equals", "claim"):
        notes.add(at(tree, (kind,), key=True), "missing-within", "a time needs a tolerance", "add within: 1% + 50ms")


def _claim(model: Expect, kind: Kind, tree: Tree, notes: Notes) -> None:
    if kind == "claim" and not model.source:
        where = at(tree, ("claim",), key=True)
        notes.add(where, "missing-source", "a claim comes from somebody's text", "add source: who said it, and when")
    if kind != "claim" and model.holds is not None:
        notes.add(at(tree, ("holds",), key=True), "claim", "`holds` belongs to a claim", "write claim: instead")
