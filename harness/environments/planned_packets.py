"""What the faults of a plan will do to packets: some of it a world has to be made for."""

from harness.levers import FilterPackets
from harness.memo import memoize_last
from harness.plan import ClusterShape, PlannedFault, Step


@memoize_last
def planned_packets(cluster: ClusterShape, steps: tuple[Step, ...]) -> tuple[FilterPackets, ...]:
    """The packet levers of every fault, for the cluster as it is at first."""
    view = cluster.view()
    return tuple(
        stage.lever
        for step in steps
        if isinstance(step, PlannedFault)
        for stage in step.fault.stages(view)
        if isinstance(stage.lever, FilterPackets)
    )
