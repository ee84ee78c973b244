"""The line loses packets."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.links import LinkFault
from harness.levers import FilterPackets, Flow, PacketAction, PacketsDropped
from harness.quantities import Share


@fault("loss")
class Loss(LinkFault):
    """The network loses packets at random, and kernels retransmit what was not acknowledged.

    Each packet is drawn separately: retransmissions, handshakes and acknowledgements too. A lost request arrives 0.2 s
    later, a lost SYN 1 s later; a loss in the middle of a large message is noticed at once. A lost packet without data
    is made up for by the next acknowledgement. To drop one kind of packets only, see `drop`.
    """

    proof = Proof(PacketsDropped)

    chance: Share = Field(gt=0, le=1, description="How likely each packet is lost, such as 5%")

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DROP, chance=self.chance, seed=seed)
