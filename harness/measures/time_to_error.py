"""How long the caller waits until the error reaches it: what faultlab was built to measure."""

from harness.measures.base import Censored, MeasuredValue, MeasureResult, Missing, measure
from harness.measures.lookup import operation_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="s", about="From the call until its error reaches the caller.")
def time_to_error(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    if operation.outcome is Outcome.OK:
        return Missing(f"`{alias}` succeeded after {took_s:.3f} s: there was no error")
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
