"""Another replica leads a partition."""

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import SelectorError
from harness.faults.partitions import PartitionName, named_partition, other_replica
from harness.levers import ChangeCluster, ChangeMet, MoveLeader


@fault("leader_move")
class LeaderMove(FaultModel):
    """Another replica leads a partition, as after a rebalance: no broker is down.

    The former leader answers NOT_LEADER_OR_FOLLOWER, and the client has to ask for metadata. Once healed, the former
    leader leads again.
    """

    proof = Proof(ChangeMet)

    partition: PartitionName
    to: int | None = Field(default=None, ge=1, description="The replica that leads then; the next one where absent")

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        topic, number, placed = named_partition(self.partition, view)
        to = other_replica(self.partition, view) if self.to is None else self.to
        if to not in placed.replicas:
            replicas = ", ".join(map(str, placed.replicas))
            text = f"broker {to} is no replica of {self.partition}"
            raise SelectorError("no-replica", text, f"its replicas are on {replicas}", to)
        return (Stage(ChangeCluster(change=MoveLeader(topic=topic, partition=number, to=to))),)
