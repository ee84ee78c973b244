"""Responses that are no frames of Kafka's protocol."""

from typing import Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import Proof, Stage, fault
from harness.faults.brokers import select_brokers
from harness.faults.requests import RequestFault
from harness.levers import DamagedFrame, FilterPackets, FrameDamage, PacketAction, RequestsIntercepted


@fault("bad_frame")
class BadFrame(RequestFault):
    """Requests are carried out, but what comes back is not a Kafka response, and the connection ends.

    As when something other than Kafka answers on the port, or a proxy is broken. Whether a message was written stays
    unknown. With `then: reset` the connection ends with a reset, as when the broker dies in the middle of a frame; so
    does every other connection that it ends during the fault.
    """

    proof = Proof(RequestsIntercepted)

    damage: FrameDamage = Field(
        description="The response behind a length of -1 (`negative_size`), of 2 GiB (`huge_size`) or of nothing "
        "(`zero_size`); half of it (`cut`); or other bytes in its place (`garbage`)"
    )

    then: Literal["close", "reset"] = Field(default="close", description="How the connection ends: `close` or `reset`")

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        if self.then == "close":
            return super().stages(view)
        ends = tuple(
            Stage(FilterPackets(broker=broker, flow="to_client", verdict=PacketAction.RESET, only="fin"))
            for broker in select_brokers(self.brokers, view)
        )
        return (*ends, *super().stages(view))

    def answer(self) -> DamagedFrame:
        return DamagedFrame(damage=self.damage)
