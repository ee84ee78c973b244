"""The line delivers packets in another order."""

from pydantic import Field, model_validator

from harness.faults.base import Proof, fault, unfit
from harness.faults.links import LinkFault
from harness.faults.slow_dial import LONGEST_S
from harness.levers import Delays, FilterPackets, Flow, PacketAction, PacketsReordered
from harness.quantities import Seconds, Share, duration_text


@fault("reorder")
class Reorder(LinkFault):
    """The network delivers packets out of order: a random share is held while later ones pass.

    TCP restores the order. Everything behind a packet that is held waits until it arrives, or until its sender has
    retransmitted it because later ones were acknowledged. With a large share, most of a message is sent again, and its
    sender slows down: 400 KiB take some 60 delays at 50%. A retransmission that fills a gap makes packets that were
    sent before it useless: they are refused for their old timestamps. A packet that nothing follows is late but not
    overtaken: the proof counts those that were overtaken. A message has to be larger than 1.4 KB to take more than one
    packet.
    """

    proof = Proof(PacketsReordered)

    chance: Share = Field(gt=0, lt=1, description="How likely each packet is held, such as 25%")
    delay: Seconds = Field(default=0.01, description="How long it is held: whole milliseconds, such as 10ms")

    @model_validator(mode="after")
    def _possible(self) -> "Reorder":
        wrong, hint = "", "write delay: 10ms"
        if self.delay < 0.001 or round(self.delay * 1e9) % 1_000_000:
            wrong = "the delay is whole milliseconds, at least 1ms"
        elif self.delay > LONGEST_S:
            wrong = f"no connection survives packets that are {duration_text(self.delay)} late"
            hint = f"write at most {duration_text(LONGEST_S)}"
        if wrong:
            raise unfit("reorder", wrong, hint, parameter="delay")
        return self

    def lever(self, broker: int, flow: Flow, seed: str) -> FilterPackets:
        delays = Delays(seconds=(self.delay,))
        return FilterPackets(
            broker=broker, flow=flow, verdict=PacketAction.DELAY, chance=self.chance, seed=seed, delays=delays
        )
