"""The brokers' ports go dark."""

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.faults.flows import Flows
from harness.levers import FLOWS, FilterPackets, Hook, PacketAction, PacketsDropped


@fault("blackhole")
class Blackhole(FaultModel):
    """The brokers' ports go dark: packets vanish and nobody is told.

    Open connections stay open on both sides, dials hang. Packets are dropped where they arrive, so that the sender's
    kernel goes on retransmitting as it would on a real network. With `at: sender` they are dropped where they are sent,
    as `iptables -A OUTPUT -j DROP` does it: to the kernel they were never sent, it tries them anew in another rhythm,
    and after healing they arrive up to twice as soon.
    """

    proof = Proof(PacketsDropped)
    mutes = True

    brokers: Brokers = "all"
    flows: Flows = FLOWS
    at: Hook = Field(
        default="receiver", description="`receiver`: dropped where they arrive; `sender`: dropped where they are sent"
    )

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DROP, hook=self.at))
            for broker in select_brokers(self.brokers, view)
            for flow in self.flows
        )
