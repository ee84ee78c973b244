"""How long the caller waits, whichever way it ends."""

from harness.measures.base import Censored, MeasuredValue, MeasureResult, Missing, any_operation, measure
from harness.measures.lookup import operation_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="s", about="From the call until it returns, with a result or with an error.", applies_to=any_operation)
def time_to_end(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
