"""How long a fault is felt in all, its own time included: `dark.outage`."""

from harness.measures.base import MeasureResult, Missing, measure, no_operation
from harness.measures.steady_state import fault_of, time_to_steady_state
from harness.plan import RunPlan
from harness.story import Story


@measure(
    unit="s",
    about="From the moment at which the fault was confirmed until the first acknowledgement, after its healing, "
    "behind which no send fails.",
    applies_to=no_operation,
    faults=True,
)
def outage(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    fault = fault_of(story, alias)
    return fault if isinstance(fault, Missing) else time_to_steady_state(story, fault, since_ns=fault.confirmed_ns)
