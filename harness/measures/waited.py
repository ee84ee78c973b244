"""How long the client waited on a setting, however the waits ended: `probe.waited(Net.ReadTimeout)`."""

from client.events import TraceKind
from harness.measures.base import Censored, MeasuredValue, MeasureResult, Missing, measure
from harness.measures.lookup import full_setting_name, missing_trace, operation_of, waits_on
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="s", about="Time spent in waits on the setting during the operation, elapsed or not.", argument="setting")
def waited(plan: RunPlan, story: Story, alias: str, argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    missing = missing_trace(plan, story, TraceKind.WAIT_STARTED)
    if missing is not None:
        return missing
    waits = waits_on(story, operation, full_setting_name(plan, argument or ""))
    total_ns = sum([wait.ended_ns - wait.began_ns for wait in waits])
    return Censored(total_ns / 1e9) if operation.outcome is Outcome.CENSORED else MeasuredValue(total_ns / 1e9)
