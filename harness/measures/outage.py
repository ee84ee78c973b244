"""How long a fault affects the client, its own duration included: `dark.outage`."""

from harness.measures.base import measure, no_operation
from harness.measures.results import MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.measures.steady_state import time_to_steady_state


@measure(
    unit="s",
    about="From the moment at which the fault was confirmed until the first acknowledgement, after its healing, "
    "behind which no send fails.",
    applies_to=no_operation,
    faults=True,
)
def outage(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    fault = run.fault(alias)
    return fault if isinstance(fault, Missing) else time_to_steady_state(run.story, fault, since_ns=fault.confirmed_ns)
