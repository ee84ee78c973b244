"""Connections are reset in mid-request."""

from typing import Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import ConnectionsCut, FilterPackets, PacketAction


@fault("reset")
class Reset(FaultModel):
    """Connections are reset in mid-request: both ends get a TCP reset the moment something is sent.

    Dials succeed. `upon: request` resets when the client sends: nothing of it arrives. `upon: answer` resets when the
    broker answers: the request was done and its client cannot know, so that sending it again doubles it.
    """

    proof = Proof(ConnectionsCut)

    brokers: Brokers = "all"
    upon: Literal["request", "answer"] = Field(
        default="request", description="`request`: the client's bytes are met with a reset; `answer`: the broker's"
    )
    times: int | None = Field(
        default=None, ge=1, description="So many resets for each broker, later requests pass; each one where absent"
    )

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(
                FilterPackets(
                    broker=broker,
                    flow="to_broker" if self.upon == "request" else "to_client",
                    verdict=PacketAction.RESET,
                    only="data",
                    at_most=self.times,
                )
            )
            for broker in select_brokers(self.brokers, view)
        )
