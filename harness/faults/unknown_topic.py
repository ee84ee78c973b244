"""A topic is gone."""

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import partition_of
from harness.levers import ChangeCluster, ChangeMet, DeleteTopic


@fault("unknown_topic")
class UnknownTopic(FaultModel):
    """A topic is gone, as after its deletion: metadata and produce requests get UNKNOWN_TOPIC_OR_PARTITION.

    Once healed, it is back with everything that was in it.
    """

    proof = Proof(ChangeMet)

    topic: str = Field(description="The topic's name")

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        partition_of(self.topic, 0, self.topic, view)
        return (Stage(ChangeCluster(change=DeleteTopic(topic=self.topic))),)
