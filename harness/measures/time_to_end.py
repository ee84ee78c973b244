"""How long the caller waits, whichever way it ends."""

from harness.measures.base import any_operation, measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(unit="s", about="From the call until it returns, with a result or with an error.", applies_to=any_operation)
def time_to_end(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
