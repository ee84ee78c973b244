"""How often the client tried to deliver the operation's message."""

from client.events import Kind
from harness.measures.base import Censored, Measured, Missing, Value, measure
from harness.measures.look import during, operation_of, untraced
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="count", about="Tries to deliver the message, failed dials too.", operations=("send",))
def attempts(plan: RunPlan, story: Story, alias: str, _argument: str | None) -> Measured:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = untraced(plan, story, Kind.ATTEMPT_STARTED)
    if missing is not None:
        return missing
    kind = Kind.ATTEMPT_STARTED.value
    count = len([h for h in during(story, operation) if h.kind == kind and h.fields.get("operation") == alias])
    return Censored(count) if operation.outcome is Outcome.CENSORED else Value(count)
