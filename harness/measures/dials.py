"""How many connections the client tried to open during an operation."""

from client.events import Kind
from harness.measures.base import Censored, Measured, Missing, Value, measure
from harness.measures.look import during, operation_of, untraced
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="count", about="Dials that began during the operation, successful or not.")
def dials(plan: RunPlan, story: Story, alias: str, _argument: str | None) -> Measured:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = untraced(plan, story, Kind.DIAL_STARTED)
    if missing is not None:
        return missing
    count = sum(happening.kind == Kind.DIAL_STARTED for happening in during(story, operation))
    return Censored(count) if operation.outcome is Outcome.CENSORED else Value(count)
