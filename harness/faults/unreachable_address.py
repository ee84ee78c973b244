"""A bootstrap address that belongs to no broker and answers nothing: a fault that a scenario implies."""

from typing import ClassVar

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage
from harness.levers import FilterPackets, PacketAction, PacketsDropped


class UnreachableAddress(FaultModel):
    """Packets to an address of the client's bootstrap list vanish. Not registered: no scenario injects it by name."""

    name: ClassVar[str] = "unreachable_address"
    proof = Proof(PacketsDropped)

    address: int
    """Above `harness.plan.BLACKHOLED_BASE`."""

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return (Stage(FilterPackets(broker=self.address, flow="to_broker", verdict=PacketAction.DROP)),)
