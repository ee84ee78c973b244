"""How long the client waited on a setting, however the waits ended: `probe.waited(Net.ReadTimeout)`."""

from client.events import Kind
from harness.measures.base import Censored, Measured, Missing, Value, measure
from harness.measures.look import full_name, operation_of, untraced, waits_on
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="s", about="Time spent in waits on the setting during the operation, elapsed or not.", argument="setting")
def waited(plan: RunPlan, story: Story, alias: str, argument: str | None) -> Measured:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = untraced(plan, story, Kind.WAIT_STARTED)
    if missing is not None:
        return missing
    waits = waits_on(story, operation, full_name(plan, argument or ""))
    total_ns = sum([wait.ended_ns - wait.began_ns for wait in waits])
    return Censored(total_ns / 1e9) if operation.outcome is Outcome.CENSORED else Value(total_ns / 1e9)
