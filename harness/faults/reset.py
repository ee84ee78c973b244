"""Connections are reset in mid-request."""

from typing import Literal

from pydantic import Field, model_validator

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault, unfit
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import ConnectionsCut, FilterPackets, Flow, PacketAction, Toxic
from harness.quantities import Size


@fault("reset")
class Reset(FaultModel):
    """Connections are reset in mid-request: both ends get a TCP reset as soon as something is sent.

    Dials succeed. `upon: request` resets when the client sends: nothing of it arrives. `upon: answer` resets when the
    broker answers: the request was carried out but the client cannot know, so sending it again duplicates it.

    With `bytes` that many pass first on each connection, counted from the injection or from the dial: a reset in the
    middle of a frame whose first part has arrived. A proxy ends the connection behind them, and that end is turned into
    a reset on its way to the client; so is every other end during the fault.
    """

    proof = Proof(ConnectionsCut)

    brokers: Brokers = "all"
    upon: Literal["request", "answer"] = Field(
        default="request", description="`request`: the client's bytes are met with a reset; `answer`: the broker's"
    )
    times: int | None = Field(
        default=None, ge=1, description="So many resets for each broker, later requests pass; each one where absent"
    )

    bytes: Size | None = Field(
        default=None, description="How many pass before it, such as 10B: the request's, or the answer's"
    )

    @model_validator(mode="after")
    def _possible(self) -> "Reset":
        if self.bytes is not None and self.times is not None:
            text = "behind `bytes` each connection is reset, not so many `times`"
            raise unfit("reset", text, "remove times", parameter="times")
        return self

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        flow: Flow = "to_broker" if self.upon == "request" else "to_client"
        brokers = select_brokers(self.brokers, view)
        if self.bytes is not None:
            ends_after = (("bytes", self.bytes),)
            return tuple(
                Stage(lever)
                for broker in brokers
                for lever in (
                    FilterPackets(broker=broker, flow="to_client", verdict=PacketAction.RESET, only="fin"),
                    Toxic(broker=broker, flow=flow, kind="limit_data", attributes=ends_after),
                )
            )
        return tuple(
            Stage(
                FilterPackets(
                    broker=broker,
                    flow=flow,
                    verdict=PacketAction.RESET,
                    only="data",
                    at_most=self.times,
                )
            )
            for broker in brokers
        )
