"""How often a setting's limit ran out during an operation: `probe.waits(Net.ReadTimeout)`."""

from client.events import TraceKind
from harness.measures.base import measure
from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(unit="count", about="Waits on the setting whose limit passed during the operation.", argument="setting")
def waits(run: RunView, alias: str, argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    missing = run.missing_trace(TraceKind.WAIT_STARTED)
    if missing is not None:
        return missing
    found = run.during(operation).waits_on.get(run.full_setting_name(argument or ""), ())
    count = len([wait for wait in found if wait.outcome == "elapsed"])
    return Censored(count) if operation.outcome is Outcome.CENSORED else MeasuredValue(count)
