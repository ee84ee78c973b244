"""The brokers' ports go dark."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.links import LinkFault
from harness.levers import FilterPackets, Flow, Hook, PacketAction, PacketsDropped


@fault("blackhole")
class Blackhole(LinkFault):
    """Brokers become unreachable: packets are dropped without notice.

    Open connections stay open on both sides; dials hang. Packets are dropped at the receiver, so the sender's kernel
    retransmits as on a real network. With `at: sender` they are dropped at the sender, as `iptables -A OUTPUT -j DROP`
    does: the kernel does not count them as sent and retries on another schedule, so they arrive up to twice as soon
    after healing.
    """

    proof = Proof(PacketsDropped)
    mutes = True

    at: Hook = Field(
        default="receiver", description="`receiver`: dropped where they arrive; `sender`: dropped where they are sent"
    )

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DROP, hook=self.at)
