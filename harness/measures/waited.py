"""How long the client waited on a setting, however the waits ended: `probe.waited(Net.ReadTimeout)`."""

from client.events import TraceKind
from harness.measures.base import measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(unit="s", about="Time spent in waits on the setting during the operation, elapsed or not.", argument="setting")
def waited(run: RunView, alias: str, argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    missing = run.missing_trace(TraceKind.WAIT_STARTED)
    if missing is not None:
        return missing
    waits = run.during(operation).waits_on.get(run.full_setting_name(argument or ""), ())
    total_ns = sum([wait.ended_ns - wait.began_ns for wait in waits])
    return Censored(total_ns / 1e9) if operation.outcome is Outcome.CENSORED else MeasuredValue(total_ns / 1e9)
