"""Statistical expectations: a share, a mean or a quantile over all runs of one case."""

from harness.formulas import run_conditions as conditions
from harness.formulas.evaluate import Formula
from harness.formulas.syntax import FormulaError
from harness.language.bounds import Bound, ExpectationContext, caused_by_invalid_step, parse_bound, scalar
from harness.language.formula_errors import report_formula_error
from harness.language.measure_reference import measure_of
from harness.language.ranges import parse_range
from harness.language.schema import Expect, StatisticKind
from harness.language.tolerances import check_number_tolerance, check_time_tolerance
from harness.language.yaml.tree import ScalarNode, Tree, at
from harness.measures import MeasureDefinition, parse
from harness.plan import PlannedOperation, RunPlan, Statistic
from harness.quantities import Tolerance


def statistic(
    model: Expect, kind: StatisticKind, tree: Tree, context: ExpectationContext, *, complete: bool
) -> Statistic | None:
    """The expectation, None where it has problems, which are reported. `complete` as for point expectations."""
    before = context.problems
    of = scalar(tree, kind)
    definition = None if kind == "share" else _number(measure_of(of, context), kind, of, context)
    if kind == "share":
        _condition(of, context)
    unit = "share" if kind == "share" else definition.unit if definition is not None else None
    found = parse_bound(model, tree, unit, context, complete=complete)
    if complete:
        _check_keys(model, kind, tree, context)
        _tolerance(model, unit, tree, context)
    between = _between(model, definition, of, tree, context) if kind == "mean" and complete else (0.0, 1.0)
    if found is None or unit is None or between is None or context.problems > before:
        return None
    if unit == "share" and context.scope is not None:
        _proportion(found, tree, context)
    assert unit != "text", "refused above"
    assert found.kind != "between", "only a point has this kind"
    within = model.within or Tolerance(0.0, 0.0)
    named = found.named
    return Statistic(
        statistic=kind, of=of.text.strip(), unit=unit,
        kind=found.kind, formula=found.text, q=model.q, lowest=between[0], highest=between[1],
        within_relative=within.relative, within_absolute=within.absolute, when=found.when, holds=model.holds,
        source=model.source or (named.source if named else ""), name=model.name or (named.name if named else ""),
        line=tree.span.line, bound=found.written,
    )  # fmt: skip


def _number(
    definition: MeasureDefinition | None, kind: StatisticKind, of: ScalarNode, context: ExpectationContext
) -> MeasureDefinition | None:
    """The measure, None where it gives words: these have no mean."""
    if definition is None or definition.unit != "text":
        return definition
    hint = f"write share: \"{of.text.strip()} == '{definition.words[0]}'\""
    context.diagnostics.add(of.span, "unfit-measure", f"{definition.name} is a word: it has no {kind}", hint)
    return None


def _condition(place: ScalarNode, context: ExpectationContext) -> None:
    try:
        Formula.parse(place.text)
        if context.plan is not None and context.scope is not None:
            conditions.check(place.text, context.plan, context.scope)
    except FormulaError as error:
        if not caused_by_invalid_step(error, place.text, context):
            report_formula_error(error, place, context.diagnostics)


def _check_keys(model: Expect, kind: StatisticKind, tree: Tree, context: ExpectationContext) -> None:
    """`q` belongs to a quantile and to nothing else, `between` to a mean."""
    for key, owner in (("q", "quantile"), ("between", "mean")):
        if getattr(model, key) is not None and kind != owner:
            where = at(tree, (key,), key=True)
            context.diagnostics.add(where, "expectation", f"`{key}` belongs to a {owner}", "remove it")
    if kind == "quantile" and model.q is None:
        where = at(tree, ("quantile",), key=True)
        context.diagnostics.add(where, "expectation", "nothing says which quantile", "add q: 0.9")


def _tolerance(model: Expect, unit: str | None, tree: Tree, context: ExpectationContext) -> None:
    if model.within is None or model.within.relative + model.within.absolute == 0:
        hint = "add within: 1% + 50ms" if unit == "s" else "add within: 0.08"
        message = "chance moves what many runs have in common: without a tolerance no number of runs is enough"
        context.diagnostics.add(tree.span, "missing-within", message, hint)
    elif unit == "s":
        check_time_tolerance(model, tree, context.diagnostics)
    elif unit is not None:
        check_number_tolerance(model, tree, context.diagnostics)


def _between(
    model: Expect, definition: MeasureDefinition | None, of: ScalarNode, tree: Tree, context: ExpectationContext
) -> tuple[float, float] | None:
    """The least and the most that a single run can give: as written, else from the lab's patience."""
    if definition is None:
        return None
    if model.between is None:
        patience_s = _patience_s(context.plan, parse(of.text).alias) if definition.name.startswith("time_to_") else None
        if patience_s is not None:
            return (0.0, patience_s)
        message = "a rare large value would change this mean: what can a single run give at least and at most?"
        hint = "add between: [0s, 60s]" if definition.unit == "s" else "add between: [0, 10]"
        context.diagnostics.add(at(tree, ("mean",), key=True), "missing-between", message, hint)
        return None
    found = parse_range(tree, definition.unit, context)
    return None if found is None else (found.low, found.high)


def _patience_s(plan: RunPlan | None, alias: str) -> float | None:
    steps = plan.steps if plan is not None else ()
    return next(
        (step.give_up_after_s for step in steps if isinstance(step, PlannedOperation) and step.alias == alias), None
    )


def _proportion(found: Bound, tree: Tree, context: ExpectationContext) -> None:
    assert context.scope is not None
    predicted = Formula.parse(found.text).evaluate(context.scope).number
    if not 0 <= predicted <= 1:
        where = at(tree, (found.kind,))
        context.diagnostics.add(
            where, "range", f"a share lies between 0 and 1, and this is {predicted:g}", "write 1/6 or 0.9"
        )
