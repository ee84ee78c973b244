"""The line loses packets."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.links import LinkFault
from harness.levers import FilterPackets, Flow, PacketAction, PacketsDropped
from harness.quantities import Share


@fault("loss")
class Loss(LinkFault):
    """The line loses packets: each of them vanishes by chance, and the kernels send again what was not acknowledged.

    Each packet is drawn for by itself, also one that is sent again, handshakes and acknowledgements too. A lost request
    comes 0.2 s later, a lost SYN 1 s; one in the middle of a large message is missed at once. What carries no bytes is
    made up for by the next acknowledgement. To lose packets of one kind alone, see `drop`.
    """

    proof = Proof(PacketsDropped)

    chance: Share = Field(gt=0, le=1, description="How likely each packet is lost, such as 5%")

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DROP, chance=self.chance, seed=seed)
