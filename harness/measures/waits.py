"""How often a setting's limit ran out during an operation: `probe.waits(Net.ReadTimeout)`."""

from client.events import TraceKind
from harness.measures.base import Censored, MeasuredValue, MeasureResult, Missing, measure
from harness.measures.lookup import full_setting_name, missing_trace, operation_of, waits_on
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="count", about="Waits on the setting whose limit passed during the operation.", argument="setting")
def waits(plan: RunPlan, story: Story, alias: str, argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = missing_trace(plan, story, TraceKind.WAIT_STARTED)
    if missing is not None:
        return missing
    found = waits_on(story, operation, full_setting_name(plan, argument or ""))
    count = len([wait for wait in found if wait.outcome == "elapsed"])
    return Censored(count) if operation.outcome is Outcome.CENSORED else MeasuredValue(count)
