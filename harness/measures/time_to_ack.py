"""How long the caller waits for the acknowledgement."""

from harness.measures.base import deliveries, measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(unit="s", about="From the call until its acknowledgement reaches the caller.", applies_to=deliveries)
def time_to_ack(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    if operation.outcome is Outcome.FAILED:
        failed = f"`{alias}` failed after {took_s:.3f} s: {operation.error or 'no error text'}"
        return run.ended_otherwise(operation, failed)
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
