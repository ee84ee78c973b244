"""Brokers leave the cluster."""

from typing import Literal

from pydantic import Field, model_validator

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault, unfit
from harness.faults.brokers import Brokers, SelectorError, select_brokers
from harness.faults.closed_ports import closed_ports
from harness.levers import ChangeCluster, DepartureMet, Lever, RemoveMembers
from harness.quantities import Seconds


@fault("scale_down")
class ScaleDown(FaultModel):
    """Brokers leave the cluster: others take over their replicas and partitions, and metadata no longer names them.

    Stale state then misleads a client: open connections, metadata that it has not refreshed, its bootstrap list. The
    addresses refuse dials, are blackholed as when machines are gone, or answer as another cluster as when addresses
    were given to new machines. In the wrong order (`first: ports`) the ports go while metadata still names the brokers.
    Once healed, they are members again and lead what they led.
    """

    proof = Proof(DepartureMet)

    brokers: Brokers
    then: Literal["refuse", "blackhole", "foreign"] = Field(
        default="refuse", description="What becomes of their addresses: `refuse`, `blackhole`, or `foreign`"
    )
    first: Literal["leaders", "ports"] = Field(
        default="leaders", description="What goes first: `leaders` as in a planned scale-down, or `ports`"
    )
    election: Seconds = Field(
        default=0.0, ge=0, description="How long after the first the other one goes; neither is for `foreign`"
    )

    @model_validator(mode="after")
    def _in_one_order(self) -> "ScaleDown":
        if self.then == "foreign" and (self.first == "ports" or self.election > 0):
            text = "brokers that answer as another cluster leave at once: `first` and `election` have no meaning there"
            parameter = "first" if self.first == "ports" else "election"
            raise unfit("scale_down", text, "leave out `first` and `election`", parameter=parameter)
        return self

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        leaving = select_brokers(self.brokers, view)
        if set(leaving) == set(view.brokers):
            text = "all brokers would leave"
            raise SelectorError("no-brokers-left", text, "leave one of them, or use blackhole or kill", leaving[0])
        membership: Lever = ChangeCluster(change=RemoveMembers(brokers=leaving, foreign=self.then == "foreign"))
        ports = () if self.then == "foreign" else closed_ports(leaving, self.then)
        first, second = ([membership], ports) if self.first == "leaders" else (ports, [membership])
        return (*map(Stage, first), *(Stage(lever, self.election) for lever in second))
