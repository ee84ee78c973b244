"""How long a fault is felt in all, its own time included: `dark.outage`."""

from harness.measures.base import Measured, Missing, measure
from harness.measures.steady import fault_of, until_steady
from harness.plan import RunPlan
from harness.story import Story


@measure(
    unit="s",
    about="From the moment at which the fault was confirmed until the first acknowledgement, after its healing, "
    "behind which no send fails.",
    operations=(),
    faults=True,
)
def outage(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> Measured:
    fault = fault_of(story, alias)
    return fault if isinstance(fault, Missing) else until_steady(story, fault, since_ns=fault.confirmed_ns)
