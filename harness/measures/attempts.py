"""How often the client tried to deliver the operation's message."""

from client.events import TraceKind
from harness.measures.base import Censored, MeasuredValue, MeasureResult, Missing, deliveries, measure
from harness.measures.lookup import events_during, missing_trace, operation_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="count", about="Tries to deliver the message, failed dials too.", applies_to=deliveries)
def attempts(plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = missing_trace(plan, story, TraceKind.ATTEMPT_STARTED)
    if missing is not None:
        return missing
    kind = TraceKind.ATTEMPT_STARTED.value
    count = len([h for h in events_during(story, operation) if h.kind == kind and h.fields.get("operation") == alias])
    return Censored(count) if operation.outcome is Outcome.CENSORED else MeasuredValue(count)
