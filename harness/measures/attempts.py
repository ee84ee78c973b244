"""How often the client tried to deliver the operation's message."""

from client.events import TraceKind
from harness.measures.base import deliveries, measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(unit="count", about="Tries to deliver the message, failed dials too.", applies_to=deliveries)
def attempts(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    missing = run.missing_trace(TraceKind.ATTEMPT_STARTED)
    if missing is not None:
        return missing
    kind = TraceKind.ATTEMPT_STARTED.value
    events = run.during(operation).events
    count = len([event for event in events if event.kind == kind and event.fields.get("operation") == alias])
    return Censored(count) if operation.outcome is Outcome.CENSORED else MeasuredValue(count)
