"""The brokers' ports refuse."""

from typing import Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import CloseListener, DialsRefused, FilterPackets, PacketAction


@fault("refuse")
class Refuse(FaultModel):
    """The brokers' ports refuse connections: a dial is answered with a reset at once.

    `by: listener` is a broker whose process is gone: nothing listens, and open connections are closed. `by: firewall`
    rejects new dials only: open connections stay open.
    """

    proof = Proof(DialsRefused)

    brokers: Brokers = "all"
    by: Literal["listener", "firewall"] = Field(
        default="listener", description="`listener`: nothing listens; `firewall`: new dials are rejected"
    )

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(
                CloseListener(broker=broker)
                if self.by == "listener"
                else FilterPackets(broker=broker, flow="to_broker", only="syn", verdict=PacketAction.REFUSE)
            )
            for broker in select_brokers(self.brokers, view)
        )
