"""A partition has no leader."""

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.partitions import PartitionName, named_partition
from harness.levers import ChangeCluster, ChangeMet, RemoveLeader


@fault("no_leader")
class NoLeader(FaultModel):
    """A partition has no leader, as during an election or when all its replicas are gone.

    Metadata says LEADER_NOT_AVAILABLE for it, and its former leader answers NOT_LEADER_OR_FOLLOWER. Once healed, the
    former leader leads again.
    """

    proof = Proof(ChangeMet)

    partition: PartitionName

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        topic, number, _ = named_partition(self.partition, view)
        return (Stage(ChangeCluster(change=RemoveLeader(topic=topic, partition=number))),)
