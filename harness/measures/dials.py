"""How many connections the client tried to open during an operation: as it tells, else as the wire shows."""

from client.events import Kind
from harness.measures.base import Censored, Measured, Missing, Value, measure
from harness.measures.look import count_during, dials_seen, operation_of, untraced
from harness.plan import RunPlan
from harness.story import OperationStory, Outcome, Story


@measure(unit="count", about="Dials that began during the operation, successful or not.")
def dials(plan: RunPlan, story: Story, alias: str, _argument: str | None) -> Measured:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = untraced(plan, story, Kind.DIAL_STARTED)
    seen = dials_seen(story)
    if missing is not None and not seen:
        return missing
    if missing is None:
        count = count_during(story, operation, Kind.DIAL_STARTED)
    else:
        count = sum(_began_ns(operation) <= at_ns <= operation.ended_ns for at_ns in seen)
    wire = missing is not None
    return Censored(count, wire=wire) if operation.outcome is Outcome.CENSORED else Value(count, wire=wire)


def _began_ns(operation: OperationStory) -> int:
    """The call. Where the lab stamped it on receipt, it may have been made, and dialled, at any time since asked."""
    if operation.stamped == "harness" and operation.asked_ns is not None:
        return operation.asked_ns
    return operation.started_ns
