"""Measures of a run as records: those that it gave, and those that were expected of it, given or not."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from harness.measures import (
    MEASURES,
    WHOLE_RUN,
    Censored,
    MeasuredValue,
    MeasureName,
    MeasureResult,
    Missing,
    RunView,
    parse,
    take,
)
from harness.measures.trace import settings_waited_on
from harness.operations import OPERATIONS
from harness.plan import RunPlan
from harness.records.run import MeasureRecord
from harness.story import Story


def measured(plan: RunPlan, story: Story, name: MeasureName) -> MeasureResult:
    """Take one measure. Raises KeyError for a measure that does not exist: validation refuses those."""
    return take(RunView(plan, story), name)


def all_measures(run: RunView) -> tuple[MeasureRecord, ...]:
    """Every measure that the run gave, by operation and fault; after them the expected ones that it did not give.

    Words are left out: an operation's own record has them.
    """
    found: dict[str, MeasureRecord] = {}
    for name in (*_of_operations(run), *_of_faults(run.story), *_of_run()):
        result = take(run, name)
        if not isinstance(result, Missing):
            record = as_record(name, result)
            found[record.name] = record
    expected = [expectation.measure for expectation in run.plan.expectations]
    expected += [statistic.of for statistic in run.plan.statistics if statistic.statistic != "share"]
    for name in map(parse, dict.fromkeys(expected)):
        if str(name) not in found and MEASURES[name.measure].unit != "text":
            found[str(name)] = as_record(name, take(run, name))
    return tuple(found.values())


def as_record(name: MeasureName, result: MeasureResult) -> MeasureRecord:
    if isinstance(result, MeasuredValue):
        return _record(name, value=result.value, wire=result.wire)
    if isinstance(result, Censored):
        return _record(name, censored_at=result.at_least, wire=result.wire)
    assert isinstance(result, Missing), "words are no records"
    return _record(name, missing=result.reason)


@lru_cache(maxsize=4096)
def _record(name: MeasureName, **found: Any) -> MeasureRecord:
    """Repeats of a case measure the same, nearly all of it."""
    return MeasureRecord(name=str(name), unit=MEASURES[name.measure].unit, **found)


def _of_operations(run: RunView) -> Iterator[MeasureName]:
    for operation in run.story.operations:
        settings = settings_waited_on(run.during(operation).waits)
        yield from _of_operation(operation.alias, operation.operation, settings)


@lru_cache(maxsize=1024)
def _of_operation(alias: str, operation: str, settings: tuple[str, ...]) -> tuple[MeasureName, ...]:
    return tuple(
        MeasureName(alias, definition.name, argument)
        for definition in MEASURES.values()
        if operation in OPERATIONS and definition.unit != "text" and definition.applies_to(OPERATIONS[operation])
        for argument in (settings if definition.argument == "setting" else (None,))
    )


def _of_faults(story: Story) -> Iterator[MeasureName]:
    for fault in story.faults:
        yield from _of_fault(fault.alias)


@lru_cache(maxsize=1024)
def _of_fault(alias: str) -> tuple[MeasureName, ...]:
    return tuple(MeasureName(alias, definition.name) for definition in MEASURES.values() if definition.faults)


@cache
def _of_run() -> tuple[MeasureName, ...]:
    return tuple(MeasureName(WHOLE_RUN, definition.name) for definition in MEASURES.values() if definition.run)
