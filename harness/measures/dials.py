"""How many connections the client tried to open during an operation: by its own trace, else by what the wire showed."""

from client.events import TraceKind
from harness.measures.base import measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import OperationStory, Outcome


@measure(
    unit="count", about="Dials that began during the operation, successful or not.", applies_to=lambda one: one.dials
)
def dials(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    missing = run.missing_trace(TraceKind.DIAL_STARTED)
    if missing is not None and not run.trace.dials_seen:
        return missing
    if missing is None:
        kind = TraceKind.DIAL_STARTED.value
        count = len([event for event in run.during(operation).events if event.kind == kind])
    else:
        count = sum(_began_ns(operation) <= at_ns <= operation.ended_ns for at_ns in run.trace.dials_seen)
    wire = missing is not None
    return Censored(count, wire=wire) if operation.outcome is Outcome.CENSORED else MeasuredValue(count, wire=wire)


def _began_ns(operation: OperationStory) -> int:
    """The time of the call. If the lab stamped it on receipt, the client may have dialled since the command."""
    if operation.stamped == "harness" and operation.asked_ns is not None:
        return operation.asked_ns
    return operation.started_ns
