"""Dials complete, and nothing comes of the connection."""

from typing import ClassVar, Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import FLOWS, ConnectionsCut, FilterPackets, PacketAction, PacketsDropped


@fault("half_open")
class HalfOpen(FaultModel):
    """Connections are half-open: dials complete, but no process is behind them.

    `then: silent` is a peer that vanished, or a balancer that completes handshakes for one: what is sent is dropped in
    both directions, and the kernel retransmits. `then: reset` is a peer that was restarted and does not know the
    connection: the client's first bytes on each connection are answered with a reset. Connections that were open before
    are affected too. Once healed, what the kernel still retransmits arrives.
    """

    proof = Proof(PacketsDropped)
    proofs: ClassVar = {("then", "reset"): Proof(ConnectionsCut)}

    brokers: Brokers = "all"
    then: Literal["silent", "reset"] = Field(
        default="silent", description="What bytes are met with behind the handshake: `silent`, nothing; or a `reset`"
    )

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        verdict, flows = (PacketAction.DROP, FLOWS) if self.then == "silent" else (PacketAction.RESET, FLOWS[:1])
        return tuple(
            Stage(FilterPackets(broker=broker, flow=flow, only="data", verdict=verdict))
            for broker in select_brokers(self.brokers, view)
            for flow in flows
        )
