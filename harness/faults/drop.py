"""Some packets vanish: those of a kind, or those that chance picks."""

from typing import Literal

from pydantic import Field, model_validator

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault, unfit
from harness.faults.brokers import Brokers, select_brokers
from harness.faults.flows import Flows
from harness.levers import FLOWS, FilterPackets, PacketAction, PacketsDropped
from harness.quantities import Share


@fault("drop")
class Drop(FaultModel):
    """Some packets are dropped at the receiver: those of one kind, or a random share.

    `only: syn` makes dials hang while open connections work, as with a firewall that lost its rules for new
    connections. `only: data` lets dials succeed but no data through, in the flows named (see `half_open`). With a
    `chance` each packet is drawn separately, retransmissions too, as on a lossy line.
    """

    proof = Proof(PacketsDropped)

    brokers: Brokers = "all"
    flows: Flows = FLOWS
    only: Literal["any", "syn", "data"] = Field(
        default="any", description="`syn`: dials alone; `data`: what carries bytes; `any`: all packets"
    )
    chance: Share | None = Field(
        default=None, gt=0, le=1, description="How likely each of them vanishes, such as 30%; each does where absent"
    )

    @model_validator(mode="after")
    def _possible(self) -> "Drop":
        if self.only == "syn" and "to_broker" not in self.flows:
            text = "clients dial brokers: no SYN goes to a client"
            raise unfit("drop", text, "write flows: [to_broker]", parameter="flows")
        return self

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(
                FilterPackets(
                    broker=broker,
                    flow=flow,
                    only=self.only,
                    verdict=PacketAction.DROP,
                    chance=self.chance or 1.0,
                    seed=f"{view.seed}/{broker}/{flow}" if self.chance else "",
                )
            )
            for broker in select_brokers(self.brokers, view)
            for flow in self.flows
            if self.only != "syn" or flow == "to_broker"
        )
