"""What the faults of a plan will do to packets: some of it a world has to be made for."""

from harness.levers import FilterPackets
from harness.plan import PlannedFault, RunPlan


def planned_packets(plan: RunPlan) -> tuple[FilterPackets, ...]:
    """The packet levers of every fault, for the cluster as it is at first."""
    view = plan.cluster.view()
    return tuple(
        stage.lever
        for step in plan.steps
        if isinstance(step, PlannedFault)
        for stage in step.fault.stages(view)
        if isinstance(stage.lever, FilterPackets)
    )
