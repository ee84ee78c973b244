"""How often a setting's limit ran out during an operation: `probe.waits(Net.ReadTimeout)`."""

from client.events import Kind
from harness.measures.base import Censored, Measured, Missing, Value, measure
from harness.measures.look import full_name, operation_of, untraced, waits_on
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="count", about="Waits on the setting whose limit passed during the operation.", argument="setting")
def waits(plan: RunPlan, story: Story, alias: str, argument: str | None) -> Measured:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = untraced(plan, story, Kind.WAIT_STARTED)
    if missing is not None:
        return missing
    found = waits_on(story, operation, full_name(plan, argument or ""))
    count = len([wait for wait in found if wait.outcome == "elapsed"])
    return Censored(count) if operation.outcome is Outcome.CENSORED else Value(count)
