"""How long the caller waits, whichever way it ends."""

from harness.measures.base import CLIENT_CALLS, Censored, MeasuredValue, MeasureResult, Missing, measure
from harness.measures.lookup import operation_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(unit="s", about="From the call until it returns, with a result or with an error.",
         operations=("start_client", *CLIENT_CALLS))  # fmt: skip
def time_to_end(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
