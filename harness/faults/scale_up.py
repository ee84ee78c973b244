"""Brokers join the cluster."""

from typing import Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, SelectorError, select_brokers
from harness.faults.closed_ports import closed_ports
from harness.levers import AddMembers, ChangeCluster, ChangeMet, Lever, RemoveMembers


@fault("scale_up")
class ScaleUp(FaultModel):
    """Brokers join the cluster: metadata names them, and they lead the partitions that `cluster` gives them.

    From the run's start until then they are no members: others have their replicas and lead their partitions, and
    their addresses refuse dials, or are blackholed as where their machines do not exist yet. To have brokers lead while
    clients cannot reach them, as where a firewall does not know them, inject `blackhole` for them right afterwards.
    Once healed, they have left again.
    """

    proof = Proof(ChangeMet)

    brokers: Brokers
    before: Literal["refuse", "blackhole"] = Field(
        default="refuse", description="What their addresses do until then: `refuse` or `blackhole`"
    )

    def beforehand(self, view: ClusterView) -> tuple[Lever, ...]:
        joining = self._joining(view)
        return (ChangeCluster(change=RemoveMembers(brokers=joining)), *closed_ports(joining, self.before))

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        joining = self._joining(view)
        ports = (Stage(lever, ends=True) for lever in closed_ports(joining, self.before))
        return (*ports, Stage(ChangeCluster(change=AddMembers(brokers=joining))))

    def _joining(self, view: ClusterView) -> tuple[int, ...]:
        joining = select_brokers(self.brokers, view)
        if set(joining) == set(view.brokers):
            text = "no broker would be a member at first: a cluster without brokers is none"
            raise SelectorError("no-brokers-at-first", text, "let some be members from the start", joining[0])
        return joining
