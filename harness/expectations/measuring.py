"""Measures of a run as records: those that it gave, and those that were expected of it, given or not."""

from harness.measures import MEASURES, Censored, Measured, MeasureName, Missing, Value, parse
from harness.measures.look import settings_waited_on, waits_during
from harness.plan import RunPlan
from harness.records.run import Measure
from harness.story import OperationStory, Story


def measured(plan: RunPlan, story: Story, name: MeasureName) -> Measured:
    """Take one measure. Raises KeyError for a measure that does not exist: validation refuses those."""
    return MEASURES[name.measure].measure(plan, story, name.alias, name.argument)


def all_measures(plan: RunPlan, story: Story) -> tuple[Measure, ...]:
    """Every measure that the run gave, operation by operation; after them the expected ones that it did not give."""
    found: dict[str, Measure] = {}
    for operation in story.operations:
        for name in _names(story, operation):
            result = measured(plan, story, name)
            if not isinstance(result, Missing):
                found[str(name)] = as_record(name, result)
    for expectation in plan.expectations:
        name = parse(expectation.measure)
        if str(name) not in found:
            found[str(name)] = as_record(name, measured(plan, story, name))
    return tuple(found.values())


def as_record(name: MeasureName, result: Measured) -> Measure:
    unit = MEASURES[name.measure].unit
    match result:
        case Value(value):
            return Measure(name=str(name), unit=unit, value=value, wire=result.wire)
        case Censored(at_least):
            return Measure(name=str(name), unit=unit, censored_at=at_least, wire=result.wire)
        case Missing(reason):
            return Measure(name=str(name), unit=unit, missing=reason)


def _names(story: Story, operation: OperationStory) -> list[MeasureName]:
    settings = settings_waited_on(waits_during(story, operation))
    return [
        MeasureName(operation.alias, definition.name, argument)
        for definition in MEASURES.values()
        if operation.operation in definition.operations
        for argument in (settings if definition.argument == "setting" else (None,))
    ]
