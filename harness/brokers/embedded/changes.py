"""What each change makes of a cluster's state, and what undoing it does: pure functions from state to state.

Undoing looks at the state before the change, and leaves alone what was changed since. A leader epoch only goes up.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from harness.brokers.cluster import ClusterStateError
from harness.brokers.embedded.cluster import (
    NO_LEADER,
    ApiVersions,
    BrokerState,
    ClusterState,
    PartitionState,
    TopicState,
)
from harness.brokers.embedded.handlers import handlers, spoken_versions
from harness.levers import (
    AddMembers,
    CapVersions,
    ClusterChange,
    DeleteTopic,
    FenceBroker,
    MoveLeader,
    RemoveLeader,
    RemoveMembers,
    StopReplicating,
)


@dataclass(frozen=True, slots=True)
class _Kind:
    apply: Callable[[ClusterState, Any, ClusterState], ClusterState]
    """Takes the state, the change, and the state as declared. Raises ClusterStateError for one that cannot be."""
    undo: Callable[[ClusterState, Any, ClusterState], ClusterState]
    """Takes the state, the change, and the state before it."""


def apply(state: ClusterState, change: ClusterChange, declared: ClusterState) -> ClusterState:
    """The state after a change, its epoch unchanged; `declared` is the cluster's first one. Raises
    ClusterStateError."""
    return _KINDS[type(change)].apply(state, change, declared)


def undo(state: ClusterState, change: ClusterChange, before: ClusterState) -> ClusterState:
    """The state without a change that was made of `before`, its epoch unchanged."""
    return _KINDS[type(change)].undo(state, change, before)


def _move_leader(state: ClusterState, move: MoveLeader, declared: ClusterState) -> ClusterState:
    placed = _partition(state, move.topic, move.partition)
    if move.to not in placed.replicas:
        raise ClusterStateError(f"broker {move.to} is no replica of {move.topic}-{move.partition}: {placed.replicas}")
    return _with_partition(state, move.topic, move.partition, _led_by(placed, move.to))


def _move_back(state: ClusterState, move: MoveLeader, before: ClusterState) -> ClusterState:
    placed = state.partition(move.topic, move.partition)
    return state if placed is None or placed.leader != move.to else _lead_as_before(state, move, before)


def _remove_leader(state: ClusterState, change: RemoveLeader, declared: ClusterState) -> ClusterState:
    placed = _partition(state, change.topic, change.partition)
    return _with_partition(state, change.topic, change.partition, _led_by(placed, NO_LEADER))


def _lead_as_before(state: ClusterState, change: MoveLeader | RemoveLeader, before: ClusterState) -> ClusterState:
    placed, earlier = state.partition(change.topic, change.partition), before.partition(change.topic, change.partition)
    if placed is None or earlier is None or not _can_lead(state, placed, earlier.leader):
        return state
    return _with_partition(state, change.topic, change.partition, _led_by(placed, earlier.leader))


def _delete_topic(state: ClusterState, change: DeleteTopic, declared: ClusterState) -> ClusterState:
    if state.topic(change.topic) is None:
        raise ClusterStateError(f"there is no topic {change.topic}")
    return replace(state, topics=tuple(topic for topic in state.topics if topic.name != change.topic))


def _restore_topic(state: ClusterState, change: DeleteTopic, before: ClusterState) -> ClusterState:
    deleted = before.topic(change.topic)
    return state if deleted is None else replace(state, topics=(*state.topics, deleted))


def _remove_members(state: ClusterState, change: RemoveMembers, declared: ClusterState) -> ClusterState:
    leaving = [_broker(state, broker_id) for broker_id in change.brokers]
    return _without(replace(state, foreign=(*state.foreign, *leaving)) if change.foreign else state, change.brokers)


def _without(state: ClusterState, brokers: tuple[int, ...]) -> ClusterState:
    left = tuple(broker for broker in state.brokers if broker.broker_id not in brokers)
    if not left:
        raise ClusterStateError("a cluster cannot lose all its brokers")
    controller = state.controller_id if state.controller_id not in brokers else left[0].broker_id
    kept = replace(state, brokers=left, controller_id=controller)
    return _each_partition(kept, lambda placed: _moved_to(kept, placed))


def _moved_to(state: ClusterState, placed: PartitionState) -> PartitionState:
    """A partition with as many replicas as it had, as far as there are members for them; those that it has stay."""
    members = [broker.broker_id for broker in state.brokers]
    staying = [broker for broker in placed.replicas if broker in members]
    others = [broker for broker in members if broker not in staying]
    replicas = tuple((staying + others)[: len(placed.replicas)])
    in_sync = tuple(broker for broker in replicas if broker in placed.isr or broker not in placed.replicas)
    moved = replace(placed, replicas=replicas, isr=in_sync or replicas[:1])
    return moved if moved.leader in (*replicas, NO_LEADER) else _elected(state, moved)


def _add_members(state: ClusterState, change: AddMembers, declared: ClusterState) -> ClusterState:
    for broker_id in change.brokers:
        if declared.broker(broker_id) is None or state.broker(broker_id) is not None:
            raise ClusterStateError(f"broker {broker_id} is a member, or was never declared")
    return _restore_members(state, change, declared)


def _take_members_away(state: ClusterState, change: AddMembers, before: ClusterState) -> ClusterState:
    return _without(state, change.brokers)


def _restore_members(state: ClusterState, change: RemoveMembers | AddMembers, before: ClusterState) -> ClusterState:
    back = tuple(broker for broker in before.brokers if broker.broker_id in change.brokers)
    brokers = tuple(sorted((*state.brokers, *back), key=lambda broker: broker.broker_id))
    joined = replace(
        state,
        brokers=brokers,
        foreign=tuple(broker for broker in state.foreign if broker.broker_id not in change.brokers),
        controller_id=before.controller_id if before.controller_id in change.brokers else state.controller_id,
    )

    def returned(topic: TopicState, index: int, placed: PartitionState) -> PartitionState:
        earlier = before.partition(topic.name, index)
        if earlier is None or not set(earlier.replicas) & set(change.brokers):
            return placed
        on = replace(placed, replicas=earlier.replicas, isr=earlier.isr)
        leads = earlier.leader if earlier.leader in change.brokers else placed.leader
        return _led_by(on, leads) if _can_lead(joined, on, leads) else _elected(joined, on)

    topics = tuple(
        replace(topic, partitions=tuple(returned(topic, i, placed) for i, placed in enumerate(topic.partitions)))
        for topic in joined.topics
    )
    return replace(joined, topics=topics)


def _stop_replicating(state: ClusterState, change: StopReplicating, declared: ClusterState) -> ClusterState:
    return replace(state, not_replicating=(*state.not_replicating, change.broker))


def _replicate(state: ClusterState, change: StopReplicating, before: ClusterState) -> ClusterState:
    left = list(state.not_replicating)
    left.remove(change.broker)
    return replace(state, not_replicating=tuple(left))


def _fence(state: ClusterState, change: FenceBroker, declared: ClusterState) -> ClusterState:
    member = state.broker(change.broker)
    if member is None:
        return _declared(state, change.broker, declared)
    fenced = _with_broker(state, replace(member, fenced=True))

    def without(placed: PartitionState) -> PartitionState:
        in_sync = tuple(broker for broker in placed.isr if broker != change.broker)
        # Kafka keeps the last one: only it has all that was acknowledged.
        left = replace(placed, isr=in_sync or placed.isr)
        return _elected(fenced, left) if placed.leader == change.broker else left

    return _each_partition(fenced, without)


def _unfence(state: ClusterState, change: FenceBroker, before: ClusterState) -> ClusterState:
    member = state.broker(change.broker)
    if member is None:
        return state
    joined = _with_broker(state, replace(member, fenced=False))

    def with_it(placed: PartitionState) -> PartitionState:
        if change.broker not in placed.replicas:
            return placed
        on = replace(placed, isr=tuple(b for b in placed.replicas if b in placed.isr or b == change.broker))
        return _elected(joined, on) if on.leader == NO_LEADER else on

    return _each_partition(joined, with_it)


def _cap_versions(state: ClusterState, cap: CapVersions, declared: ClusterState) -> ClusterState:
    names = {key: handler.api.module for key, handler in handlers().items()}
    if unknown := sorted(set(cap.highest) - set(names.values())):
        raise ClusterStateError(f"there is no API {unknown[0]}: brokers know {', '.join(sorted(names.values()))}")
    spoken: ApiVersions = tuple(
        (key, versions[0], highest)
        for key, versions in spoken_versions(None).items()
        if (highest := min(versions[-1], cap.highest.get(names[key], versions[-1]))) >= versions[0]
    )
    member = state.broker(cap.broker)
    if member is None:
        return _declared(state, cap.broker, declared)
    unlimited = tuple((key, versions[0], versions[-1]) for key, versions in spoken_versions(None).items())
    return _with_broker(state, replace(member, api_versions=None if spoken == unlimited else spoken))


def _uncap_versions(state: ClusterState, cap: CapVersions, before: ClusterState) -> ClusterState:
    member, earlier = state.broker(cap.broker), before.broker(cap.broker)
    if member is None or earlier is None:
        return state
    return _with_broker(state, replace(member, api_versions=earlier.api_versions))


_KINDS: dict[type[ClusterChange], _Kind] = {
    MoveLeader: _Kind(_move_leader, _move_back),
    RemoveLeader: _Kind(_remove_leader, _lead_as_before),
    DeleteTopic: _Kind(_delete_topic, _restore_topic),
    RemoveMembers: _Kind(_remove_members, _restore_members),
    AddMembers: _Kind(_add_members, _take_members_away),
    StopReplicating: _Kind(_stop_replicating, _replicate),
    FenceBroker: _Kind(_fence, _unfence),
    CapVersions: _Kind(_cap_versions, _uncap_versions),
}


def _broker(state: ClusterState, broker_id: int) -> BrokerState:
    found = state.broker(broker_id)
    if found is None:
        raise ClusterStateError(f"there is no broker {broker_id}")
    return found


def _declared(state: ClusterState, broker_id: int, declared: ClusterState) -> ClusterState:
    """The state as it is: a broker that has left changes nothing. Raises ClusterStateError for one that never was."""
    _broker(declared, broker_id)
    return state


def _partition(state: ClusterState, topic: str, index: int) -> PartitionState:
    placed = state.partition(topic, index)
    if placed is None:
        raise ClusterStateError(f"there is no partition {topic}-{index}")
    return placed


def _with_broker(state: ClusterState, changed: BrokerState) -> ClusterState:
    brokers: Iterable[BrokerState] = (
        changed if broker.broker_id == changed.broker_id else broker for broker in state.brokers
    )
    return replace(state, brokers=tuple(brokers))


def _with_partition(state: ClusterState, topic: str, index: int, changed: PartitionState) -> ClusterState:
    topics = tuple(
        replace(t, partitions=(*t.partitions[:index], changed, *t.partitions[index + 1 :])) if t.name == topic else t
        for t in state.topics
    )
    return replace(state, topics=topics)


def _each_partition(state: ClusterState, changed: Callable[[PartitionState], PartitionState]) -> ClusterState:
    topics = tuple(replace(topic, partitions=tuple(map(changed, topic.partitions))) for topic in state.topics)
    return replace(state, topics=topics)


def _can_lead(state: ClusterState, placed: PartitionState, broker: int) -> bool:
    return broker in placed.isr and state.has_broker(broker)


def _led_by(placed: PartitionState, leader: int) -> PartitionState:
    if leader == placed.leader:
        return placed
    return replace(placed, leader=leader, leader_epoch=placed.leader_epoch + 1)


def _elected(state: ClusterState, placed: PartitionState) -> PartitionState:
    """Led by the first replica that is in sync and a member, as Kafka elects; by none where there is no such one."""
    found = next((broker for broker in placed.replicas if _can_lead(state, placed, broker)), NO_LEADER)
    return _led_by(placed, found)
