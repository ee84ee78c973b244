"""The line delivers packets twice."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.links import LinkFault
from harness.levers import FilterPackets, Flow, PacketAction, PacketsDuplicated
from harness.quantities import Share


@fault("duplicate")
class Duplicate(LinkFault):
    """The line delivers packets twice, one right behind the other, as routes do that change or switches that flood.

    TCP discards the second one and acknowledges it again: a client that sees more than that has another fault. To have
    messages twice in the log, make a client send them twice (`slow_answer`, `reset` with `upon: answer`).
    """

    proof = Proof(PacketsDuplicated)

    chance: Share = Field(default=1.0, gt=0, le=1, description="How likely each packet comes twice, such as 30%")

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DUPLICATE, chance=self.chance, seed=seed)
