"""How long a client needs to recover after a fault is healed: `outage.recovery`."""

from harness.measures.base import measure, no_operation
from harness.measures.results import MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.measures.steady_state import time_to_steady_state


@measure(
    unit="s",
    about="From the confirmed healing of the fault until the first acknowledgement behind which no send fails.",
    applies_to=no_operation,
    faults=True,
)
def recovery(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    fault = run.fault(alias)
    if isinstance(fault, Missing) or fault.healed_ns is None:
        return fault if isinstance(fault, Missing) else Missing(f"`{alias}` was not healed")
    return time_to_steady_state(run.story, fault, since_ns=fault.healed_ns)
