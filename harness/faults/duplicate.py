"""The line delivers packets twice."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.links import LinkFault
from harness.levers import FilterPackets, Flow, PacketAction, PacketsDuplicated
from harness.quantities import Share


@fault("duplicate")
class Duplicate(LinkFault):
    """The network delivers packets twice in a row, as changing routes or flooding switches do.

    TCP discards the second copy and acknowledges it again: a client that notices more has another fault. To get
    messages into the log twice, make a client send them twice (`slow_answer`, `reset` with `upon: answer`).
    """

    proof = Proof(PacketsDuplicated)

    chance: Share = Field(default=1.0, gt=0, le=1, description="How likely each packet comes twice, such as 30%")

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DUPLICATE, chance=self.chance, seed=seed)
