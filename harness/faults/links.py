"""What faults of the links between client and brokers have in common: one lever for each broker and flow."""

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Stage
from harness.faults.brokers import Brokers, select_brokers
from harness.faults.flows import Flows
from harness.levers import FLOWS, Flow, Lever


class LinkFault(FaultModel):
    """Parameters of a fault that works on each flow of each link by itself. Subclasses are registered."""

    brokers: Brokers = "all"
    flows: Flows = FLOWS

    def lever(self, broker: int, flow: Flow, seed: str) -> Lever:
        """What is pulled on one flow of one broker's link; `seed` is its own chance."""
        raise NotImplementedError

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(self.lever(broker, flow, f"{view.seed}/{broker}/{flow}"))
            for broker in select_brokers(self.brokers, view)
            for flow in self.flows
        )
