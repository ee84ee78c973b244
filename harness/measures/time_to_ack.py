"""How long the caller waits for the acknowledgement."""

from harness.measures.base import Censored, MeasuredValue, MeasureResult, Missing, deliveries, measure
from harness.measures.lookup import operation_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="s", about="From the call until its acknowledgement reaches the caller.", applies_to=deliveries)
def time_to_ack(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    if operation.outcome is Outcome.FAILED:
        return Missing(f"`{alias}` failed after {took_s:.3f} s: {operation.error or 'no error text'}")
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
