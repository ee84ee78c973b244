"""How long the caller waits until the error reaches it: the main measure of faultlab."""

from harness.measures.base import measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(unit="s", about="From the call until its error reaches the caller.")
def time_to_error(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    took_s = (operation.ended_ns - operation.started_ns) / 1e9
    if operation.outcome is Outcome.OK:
        return run.ended_otherwise(operation, f"`{alias}` succeeded after {took_s:.3f} s: there was no error")
    return Censored(took_s) if operation.outcome is Outcome.CENSORED else MeasuredValue(took_s)
