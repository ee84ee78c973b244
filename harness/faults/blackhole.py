"""The brokers' ports go dark."""

from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, chosen
from harness.faults.flows import Flows
from harness.levers import FLOWS, Packets, Verdict


@fault("blackhole")
class Blackhole(FaultModel):
    """The brokers' ports go dark: packets vanish and nobody is told.

    Open connections stay open on both sides, dials hang. Packets are dropped on the receiver's side, so that the
    sender's kernel goes on retransmitting as it would on a real network.
    """

    proof = Proof("packets_dropped")

    brokers: Brokers = "all"
    flows: Flows = FLOWS

    def stages(self, brokers: tuple[int, ...]) -> tuple[Stage, ...]:
        return tuple(
            Stage(Packets(broker=broker, flow=flow, verdict=Verdict.DROP))
            for broker in chosen(self.brokers, brokers)
            for flow in self.flows
        )
