"""The controller: owns the cluster's state, makes each next epoch of it, and pushes it to whoever is attached.

It is an object, not a broker: one lives beside the brokers of a simulation, one in the process that forks brokers.
"""

from collections.abc import Callable
from dataclasses import replace

from harness.brokers.embedded.cluster import (
    BrokerState,
    ClusterState,
    ClusterStateError,
    PartitionState,
    TopicState,
)
from harness.plan import ClusterShape, Topic

StateListener = Callable[[ClusterState], None]
"""Takes a state and returns at once: `EmbeddedBroker.apply`, `BrokerLink.push`."""

AddressLookup = Callable[[int], tuple[str, int]]
"""The address that a broker advertises: `World.advertised_address`."""


class Controller:
    """Makes epoch 1 from a cluster's shape. Raises ClusterStateError for a shape that cannot be."""

    def __init__(self, shape: ClusterShape, advertised_address: AddressLookup, *, cluster_id: str = "faultlab") -> None:
        self._state = ClusterState(
            epoch=1,
            cluster_id=cluster_id,
            controller_id=shape.broker_ids[0],
            brokers=tuple(
                BrokerState(broker_id=b, host=advertised_address(b)[0], port=advertised_address(b)[1])
                for b in shape.broker_ids
            ),
            topics=tuple(TopicState(name=t.name, partitions=_partitions(t, shape.broker_ids)) for t in shape.topics),
        )
        self._attached: list[StateListener] = []

    @property
    def state(self) -> ClusterState:
        return self._state

    def attach(self, push: StateListener) -> None:
        """Push the present state now and every later one when it is made."""
        self._attached.append(push)
        push(self._state)

    def detach(self, push: StateListener) -> None:
        """Push nothing more there: the broker is gone. Raises ValueError where it was not attached."""
        self._attached.remove(push)

    def dispose(self) -> None:
        """Push nothing more to anybody."""
        self._attached.clear()

    def move_leader(self, topic: str, partition: int, to: int) -> ClusterState:
        """Make another replica the leader, with the next leader epoch. Raises ClusterStateError where it is no
        replica."""
        placed = self._state.partition(topic, partition)
        if placed is None:
            raise ClusterStateError(f"there is no partition {topic}-{partition}")
        if to not in placed.replicas:
            raise ClusterStateError(f"broker {to} is no replica of {topic}-{partition}: {placed.replicas}")
        moved = replace(placed, leader=to, leader_epoch=placed.leader_epoch + 1)
        topics = tuple(
            replace(t, partitions=(*t.partitions[:partition], moved, *t.partitions[partition + 1 :]))
            if t.name == topic
            else t
            for t in self._state.topics
        )
        self._state = replace(self._state, epoch=self._state.epoch + 1, topics=topics)
        for push in list(self._attached):
            push(self._state)
        return self._state


def _partitions(topic: Topic, broker_ids: tuple[int, ...]) -> tuple[PartitionState, ...]:
    if len(topic.leaders) not in (1, topic.partitions):
        raise ClusterStateError(
            f"topic {topic.name} has {topic.partitions} partitions and {len(topic.leaders)} leaders"
        )
    if not 1 <= topic.replication <= len(broker_ids):
        raise ClusterStateError(f"topic {topic.name} has replication {topic.replication} on {len(broker_ids)} brokers")
    leaders = topic.leaders if len(topic.leaders) == topic.partitions else topic.leaders * topic.partitions
    return tuple(_partition(topic, leader, broker_ids) for leader in leaders)


def _partition(topic: Topic, leader: int, broker_ids: tuple[int, ...]) -> PartitionState:
    """The leader and the brokers that come after it, as many as there are replicas."""
    if leader not in broker_ids:
        raise ClusterStateError(f"topic {topic.name} is led by broker {leader}, which does not exist")
    at = broker_ids.index(leader)
    replicas = (broker_ids[at:] + broker_ids[:at])[: topic.replication]
    return PartitionState(leader=leader, leader_epoch=0, replicas=replicas, isr=replicas)
