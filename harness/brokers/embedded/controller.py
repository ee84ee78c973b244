"""The controller: owns the cluster's state, makes each next epoch of it, and pushes it to the attached listeners.

It is an object, not a broker: one lives beside the brokers of a simulation, one in the process that forks brokers.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from harness.brokers.cluster import ClusterStateError
from harness.brokers.embedded.changes import apply, undo
from harness.brokers.embedded.cluster import BrokerState, ClusterState, PartitionState, TopicState
from harness.cluster_view import ClusterView, replicas_of
from harness.levers import ClusterChange
from harness.memo import memoize_last
from harness.plan import ClusterShape, Topic

StateListener = Callable[[ClusterState], None]
"""Takes a state and returns at once: `EmbeddedBroker.apply`, `BrokerLink.push`."""

AddressLookup = Callable[[int], tuple[str, int]]
"""The address that a broker advertises: `World.advertised_address`."""


class Controller:
    """Makes epoch 1 from a cluster's shape. Raises ClusterStateError for a shape that cannot be."""

    def __init__(
        self,
        shape: ClusterShape,
        advertised_address: AddressLookup,
        *,
        cluster_id: str = "faultlab",
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._declared = self._state = _first_state(shape, advertised_address, cluster_id)
        self._attached: list[tuple[StateListener, int | None]] = []
        self._held: list[int] = []
        self.changed_ns: list[int] = []
        """When the state was changed, by `now_ns`."""
        self._now_ns = now_ns
        self._made: list[tuple[ClusterChange, ClusterState]] = []

    @property
    def state(self) -> ClusterState:
        return self._state

    def view(self) -> ClusterView:
        """The present state as faults see it."""
        view = self._state.view()
        declared = (broker.broker_id for broker in self._declared.brokers)
        return replace(view, departed=tuple(broker for broker in declared if broker not in view.brokers))

    def attach(self, push: StateListener, broker: int | None = None) -> None:
        """Push the present state now and every later one when it is made; `broker` is whose listener it is."""
        self._attached.append((push, broker))
        push(self._state)

    def detach(self, push: StateListener) -> None:
        """Push nothing more there: the broker is gone. Raises ValueError where it was not attached."""
        index = [attached for attached, _ in self._attached].index(push)
        del self._attached[index]

    def dispose(self) -> None:
        """Detach all."""
        self._attached.clear()
        self._held.clear()

    def hold(self, broker: int) -> None:
        """Push no more states to this broker until `release`."""
        self._held.append(broker)

    def release(self, broker: int) -> None:
        """Push the present state to it, and later ones again."""
        self._held.remove(broker)
        if broker not in self._held:
            for push, attached in list(self._attached):
                if attached == broker:
                    push(self._state)

    def holds(self, broker: int) -> bool:
        return broker in self._held

    def change(self, change: ClusterChange) -> ClusterState:
        """Make the next epoch and push it. Raises ClusterStateError for a change that cannot be."""
        changed = apply(self._state, change, self._declared)
        self._made.append((change, self._state))
        return self._next(changed)

    def create_topic(self, name: str, partitions: int, replication: int) -> None:
        """Add a topic that a broker was asked for, led by the members in turn. One that cannot be, any more, is passed
        over: the broker has looked before."""
        members = tuple(broker.broker_id for broker in self._state.brokers)
        if self._state.topic(name) is not None or replication > len(members):
            return
        leaders = tuple(members[index % len(members)] for index in range(partitions))
        topic = Topic(name=name, partitions=partitions, replication=replication, leaders=leaders)
        made = TopicState(name=name, partitions=_partitions(topic, members))
        self._next(replace(self._state, topics=(*self._state.topics, made)))

    def undo(self, change: ClusterChange) -> ClusterState:
        """Make the next epoch without a change that was made, the last one of several that are equal, and push it."""
        index = max(index for index, (made, _) in enumerate(self._made) if made == change)
        _, before = self._made.pop(index)
        return self._next(undo(self._state, change, before))

    def _next(self, state: ClusterState) -> ClusterState:
        earlier, self._state = self._state, replace(state, epoch=self._state.epoch + 1)
        if self._state.differs_from(earlier):
            self.changed_ns.append(self._now_ns())
        for push, broker in list(self._attached):
            if broker not in self._held:
                push(self._state)
        return self._state


@memoize_last
def _first_state(shape: ClusterShape, advertised_address: AddressLookup, cluster_id: str) -> ClusterState:
    """Epoch 1. Raises ClusterStateError."""
    return ClusterState(
        epoch=1,
        cluster_id=cluster_id,
        controller_id=shape.broker_ids[0],
        brokers=tuple(
            BrokerState(broker_id=b, host=advertised_address(b)[0], port=advertised_address(b)[1])
            for b in shape.broker_ids
        ),
        topics=tuple(TopicState(name=t.name, partitions=_partitions(t, shape.broker_ids)) for t in shape.topics),
    )


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
