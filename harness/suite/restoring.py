"""A story restored from its records, so that runs need not be kept in memory until their suite is explained."""

from collections.abc import Iterable

from harness.plan import Expectation, RunPlan
from harness.records.event import EventRecord
from harness.records.run import ExpectationResult, FaultRecord, NamedValue, OperationRecord, RunRecord
from harness.story import (
    Event,
    FaultStory,
    Kernel,
    LabError,
    Noise,
    OperationStory,
    Outcome,
    Story,
    Value,
    WriteStatus,
)

EVENT_HEADER = frozenset({"run_id", "attempt", "at_ns", "source", "source_seq", "kind"})


def restore_story(record: RunRecord, events: Iterable[EventRecord]) -> Story:
    """The story that the record and its events were made of. No record keeps `origin_ns`, which is 0, and the log."""
    story_events = tuple(_event(event) for event in events)
    ends = [event.at_ns for event in story_events] + [operation.ended_ns for operation in record.operations]
    return Story(
        run_id=record.run_id,
        attempt=record.attempt,
        origin_ns=0,
        ready_s=record.ready_s,
        ended_ns=max(ends, default=0),
        operations=tuple(restore_operation(operation) for operation in record.operations),
        faults=tuple(_fault(fault) for fault in record.faults),
        events=story_events,
        noise=Noise(**record.noise.model_dump()),
        kernel=Kernel(
            release=record.kernel.release,
            hz=record.kernel.hz,
            sysctls={value.name: value.text for value in record.kernel.sysctls},
        ),
        error=None if record.error is None else LabError(**record.error.model_dump()),
    )


def find_expectation(plan: RunPlan, judged: ExpectationResult) -> Expectation | None:
    """The plan's expectation that was judged so."""
    key = (judged.measure, judged.kind, judged.formula, judged.line)
    return next((e for e in plan.expectations if (e.measure, e.kind, e.formula, e.line) == key), None)


def _event(event: EventRecord) -> Event:
    fields: dict[str, Value] = event.model_dump(exclude=set(EVENT_HEADER), exclude_none=True)
    return Event(at_ns=event.at_ns, source=event.source, source_seq=event.source_seq, kind=event.kind, fields=fields)


def restore_operation(operation: OperationRecord) -> OperationStory:
    """The operation that the record was made of. A whole number of its further result comes back as a float."""
    fields = operation.model_dump(exclude={"partition", "offset", "result"})
    written = None if operation.written is None else WriteStatus(operation.written)
    columns = {"partition": operation.partition, "offset": operation.offset}
    result: dict[str, Value] = {name: value for name, value in columns.items() if value is not None}
    result |= {value.name: _value(value) for value in operation.result}
    return OperationStory(**{**fields, "outcome": Outcome(operation.outcome), "written": written, "result": result})


def _fault(fault: FaultRecord) -> FaultStory:
    fields = fault.model_dump()
    return FaultStory(**{**fields, "parameters": {value.name: _value(value) for value in fault.parameters}})


def _value(value: NamedValue) -> Value:
    return value.text if value.number is None else value.number
