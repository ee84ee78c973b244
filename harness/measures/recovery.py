"""How long a client needs after the network is well again: `outage.recovery`."""

from harness.measures.base import MeasureResult, Missing, measure, no_operation
from harness.measures.steady_state import fault_of, time_to_steady_state
from harness.plan import RunPlan
from harness.story import Story


@measure(
    unit="s",
    about="From the confirmed healing of the fault until the first acknowledgement behind which no send fails.",
    applies_to=no_operation,
    faults=True,
)
def recovery(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    fault = fault_of(story, alias)
    if isinstance(fault, Missing) or fault.healed_ns is None:
        return fault if isinstance(fault, Missing) else Missing(f"`{alias}` was not healed")
    return time_to_steady_state(story, fault, since_ns=fault.healed_ns)
