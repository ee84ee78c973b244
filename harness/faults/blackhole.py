"""The brokers' ports go dark."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.links import LinkFault
from harness.levers import FilterPackets, Flow, Hook, PacketAction, PacketsDropped


@fault("blackhole")
class Blackhole(LinkFault):
    """The brokers' ports go dark: packets vanish and nobody is told.

    Open connections stay open on both sides, dials hang. Packets are dropped where they arrive, so that the sender's
    kernel goes on retransmitting as it would on a real network. With `at: sender` they are dropped where they are sent,
    as `iptables -A OUTPUT -j DROP` does it: to the kernel they were never sent, it tries them anew in another rhythm,
    and after healing they arrive up to twice as soon.
    """

    proof = Proof(PacketsDropped)
    mutes = True

    at: Hook = Field(
        default="receiver", description="`receiver`: dropped where they arrive; `sender`: dropped where they are sent"
    )

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DROP, hook=self.at)
