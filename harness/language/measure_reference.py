"""The measure that an expectation names: it exists, and the step that it is taken of is one that has it."""

from harness.formulas.syntax import FormulaError
from harness.language.bounds import ExpectationContext
from harness.language.formula_errors import report_formula_error
from harness.language.yaml.tree import ScalarNode
from harness.measures import MEASURES, WHOLE_RUN, MeasureDefinition, MeasureName
from harness.measures import parse as parse_measure
from harness.operations import OPERATIONS
from harness.quantities import quote_value
from harness.suggestions import did_you_mean


def measure_of(where: ScalarNode, context: ExpectationContext) -> MeasureDefinition | None:
    """The measure that the text names, None where there is none. Problems are reported."""
    diagnostics = context.diagnostics
    try:
        name = parse_measure(where.text)
    except ValueError:
        hint = "write probe.time_to_error, where a step is called probe"
        diagnostics.add(where.span, "unknown-measure", f"{quote_value(where.text)} is not spelt <step>.<measure>", hint)
        return None
    definition = MEASURES.get(name.measure)
    if name.alias != WHOLE_RUN and name.alias not in context.aliases:
        message = f"no step is called {quote_value(name.alias)}"
        place = where.within(0, len(name.alias))[0]
        diagnostics.add(place, "unknown-alias", message, did_you_mean(name.alias, [*context.aliases, WHOLE_RUN]))
    if definition is None:
        start = len(name.alias) + 1
        place = where.within(start, start + len(name.measure))[0]
        hint = did_you_mean(name.measure, MEASURES)
        diagnostics.add(place, "unknown-measure", f"there is no measure {quote_value(name.measure)}", hint)
        return None
    _fit(name, definition, where, context)
    _argument(name, definition.argument is not None, where, context)
    return definition


def _fit(name: MeasureName, definition: MeasureDefinition, where: ScalarNode, context: ExpectationContext) -> None:
    """Report a measure that this step cannot have."""
    what = "run" if name.alias == WHOLE_RUN else context.aliases.get(name.alias, "")
    operation = what.removeprefix("do ")
    if what == "inject":
        fits, said, wanted = definition.faults, "a fault", "a fault"
        fitting = [m.name for m in MEASURES.values() if m.faults]
    elif what == "run":
        fits, said, wanted = definition.run, "the whole run", "run"
        fitting = [m.name for m in MEASURES.values() if m.run]
    elif operation in OPERATIONS:
        fits, said, wanted = definition.applies_to(OPERATIONS[operation]), operation, operation
        fitting = [m.name for m in MEASURES.values() if m.applies_to(OPERATIONS[operation])]
    else:
        return
    if not fits:
        message = f"{name.measure} is measured of {definition.of}, and {name.alias} is {said}"
        context.diagnostics.add(where.span, "unfit-measure", message, f"for {wanted}: {', '.join(fitting)}")
    elif what == "inject" and name.alias not in context.healed and name.alias not in context.invalid_aliases:
        message = f"{name.alias} lasts until the run's end: nothing is seen of what comes after"
        context.diagnostics.add(
            where.span, "never-healed", message, f"add for: 2s to its step, or a step heal: {name.alias}"
        )


def _argument(name: MeasureName, wanted: bool, where: ScalarNode, context: ExpectationContext) -> None:
    if (name.argument is not None) != wanted:
        message = f"{name.measure} takes {'a setting' if wanted else 'nothing'} in brackets"
        hint = f"write {name.alias}.{name.measure}" + ("(Net.ReadTimeout)" if wanted else "")
        context.diagnostics.add(where.span, "unknown-measure", message, hint)
    elif name.argument is not None and context.scope is not None:
        start = len(name.alias) + len(name.measure) + 2
        try:
            context.scope.find_setting(name.argument)
        except FormulaError as error:
            marks = ((start, start + len(name.argument)),)
            marked = FormulaError(error.code, error.message, error.hint, marks=marks)
            report_formula_error(marked, where, context.diagnostics)
