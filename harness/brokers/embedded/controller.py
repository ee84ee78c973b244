"""The controller: owns the cluster's state, makes each next epoch of it, and pushes it to the attached listeners.

It is an object, not a broker: one lives beside the brokers of a simulation, one in the process that forks brokers.
"""

from collections.abc import Callable
from dataclasses import replace

from harness.brokers.cluster import CapVersions, ClusterChange, ClusterStateError, MoveLeader
from harness.brokers.embedded.cluster import ApiVersions, BrokerState, ClusterState, PartitionState, TopicState
from harness.brokers.embedded.handlers import handlers, spoken_versions
from harness.cluster_view import replicas_of
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
        """Detach all."""
        self._attached.clear()

    def change(self, change: ClusterChange) -> ClusterState:
        """Make the next epoch and push it. Raises ClusterStateError for a change that cannot be."""
        match change:
            case MoveLeader():
                state = _with_leader(self._state, change)
            case CapVersions():
                state = _with_capped_versions(self._state, change)
        self._state = replace(state, epoch=state.epoch + 1)
        for push in list(self._attached):
            push(self._state)
        return self._state


def _with_leader(state: ClusterState, move: MoveLeader) -> ClusterState:
    placed = state.partition(move.topic, move.partition)
    if placed is None:
        raise ClusterStateError(f"there is no partition {move.topic}-{move.partition}")
    if move.to not in placed.replicas:
        raise ClusterStateError(f"broker {move.to} is no replica of {move.topic}-{move.partition}: {placed.replicas}")
    moved = replace(placed, leader=move.to, leader_epoch=placed.leader_epoch + 1)
    topics = tuple(
        replace(t, partitions=(*t.partitions[: move.partition], moved, *t.partitions[move.partition + 1 :]))
        if t.name == move.topic
        else t
        for t in state.topics
    )
    return replace(state, topics=topics)


def _with_capped_versions(state: ClusterState, cap: CapVersions) -> ClusterState:
    names = {key: handler.api.module for key, handler in handlers().items()}
    unknown = sorted(set(cap.highest) - set(names.values()))
    if unknown:
        raise ClusterStateError(f"there is no API {unknown[0]}: brokers know {', '.join(sorted(names.values()))}")
    member = state.broker(cap.broker)
    if member is None:
        raise ClusterStateError(f"there is no broker {cap.broker}")
    spoken: ApiVersions = tuple(
        (key, versions[0], highest)
        for key, versions in spoken_versions(None).items()
        if (highest := min(versions[-1], cap.highest.get(names[key], versions[-1]))) >= versions[0]
    )
    capped = replace(member, api_versions=spoken if cap.highest else None)
    return replace(state, brokers=tuple(capped if broker is member else broker for broker in state.brokers))


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
    replicas = replicas_of(leader, broker_ids, topic.replication)
    return PartitionState(leader=leader, leader_epoch=0, replicas=replicas, isr=replicas)
