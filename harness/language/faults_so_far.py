"""What earlier steps have made of the cluster by the time a fault is injected, and faults that cannot be by then.

Only what is certain counts: a fault that is healed by time, recurs or waits for a request may be in force or not, and
what a selector such as `leader(orders/0)` means shows in the run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce

from harness.cluster_view import ClusterView, PartitionView
from harness.faults.brokers import SelectorError, depends_on_cluster
from harness.levers import (
    AddMembers,
    ChangeCluster,
    ClusterChange,
    DeleteTopic,
    Lever,
    MoveLeader,
    RemoveLeader,
    RemoveMembers,
    Signal,
)
from harness.plan import PlannedFault


@dataclass(frozen=True, slots=True)
class _InForce:
    alias: str
    absent: tuple[ClusterChange, ...]
    """What its levers have changed since the run began."""
    changes: tuple[ClusterChange, ...]
    killed: frozenset[int]


class FaultsSoFar:
    """The faults that steps read so far leave in force for certain, in a cluster that was `declared` so."""

    def __init__(self, declared: ClusterView, in_force: tuple[_InForce, ...] = ()) -> None:
        self._declared = declared
        self._in_force = in_force

    def add(self, step: PlannedFault) -> None:
        """Raises SelectorError where it cannot be injected; it is not in force then."""
        if depends_on_cluster(step.fault):
            self._check_topic(step)
            return
        absent = tuple(_changes(step.fault.beforehand(self._declared)))
        added = _InForce(step.alias, absent, (), frozenset())
        view = self._view_with(added)
        levers = [stage.lever for stage in step.fault.stages(self._declared if absent else view)]
        self._check_running(levers)
        changes = tuple(_changes(levers))
        reduce(_changed(self._declared), changes, view)
        if step.for_s is None and step.recurs is None and step.trigger is None:
            killed = frozenset(one.broker for one in levers if isinstance(one, Signal) and one.kind == "kill")
            self._in_force = (*self._in_force, replace(added, changes=changes, killed=killed))
        elif absent:
            self._in_force = (*self._in_force, added)

    def heal(self, alias: str) -> None:
        """What it changed before it was injected stays so."""
        healed = (replace(one, changes=(), killed=frozenset()) if one.alias == alias else one for one in self._in_force)
        self._in_force = tuple(one for one in healed if one.absent or one.changes or one.killed)

    def in_the_way(self, step: PlannedFault) -> str | None:
        """The earlier fault without which the step's could be injected."""
        for one in self._in_force:
            others = tuple(other for other in self._in_force if other is not one)
            try:
                FaultsSoFar(self._declared, others).add(step)
            except SelectorError:
                continue
            return one.alias
        return None

    def _view_with(self, added: _InForce) -> ClusterView:
        changed = _changed(self._declared)
        all_of_them = (*self._in_force, added)
        began = reduce(changed, (change for one in all_of_them for change in one.absent), self._declared)
        return reduce(changed, (change for one in all_of_them for change in one.changes), began)

    def _check_topic(self, step: PlannedFault) -> None:
        """Raises SelectorError where the fault names the leader of a topic that an earlier fault has deleted."""
        try:
            step.fault.stages(self._view_with(_InForce(step.alias, (), (), frozenset())))
        except SelectorError as error:
            if error.code == "unknown-topic":
                raise

    def _check_running(self, levers: Iterable[Lever]) -> None:
        """A process that an earlier fault keeps killed can be neither paused nor restarted."""
        for lever in levers:
            if isinstance(lever, Signal) and lever.kind != "kill":
                for one in self._in_force:
                    if lever.broker in one.killed:
                        text = f"broker {lever.broker} has no process"
                        raise SelectorError("broker-gone", text, "name another broker", lever.broker)


def _changes(levers: Iterable[Lever]) -> Iterable[ClusterChange]:
    return (lever.change for lever in levers if isinstance(lever, ChangeCluster))


def _changed(declared: ClusterView) -> Callable[[ClusterView, ClusterChange], ClusterView]:
    """What a change makes of a view. Raises SelectorError where it cannot be."""

    def apply(view: ClusterView, change: ClusterChange) -> ClusterView:
        match change:
            case RemoveMembers(brokers=leaving):
                return _without(view, leaving)
            case AddMembers(brokers=joining):
                return _with(view, joining, declared)
            case DeleteTopic(topic=gone):
                return replace(view, topics={name: placed for name, placed in view.topics.items() if name != gone})
            case RemoveLeader(topic=topic, partition=partition):
                return _led_by(view, topic, partition, None)
            case MoveLeader(topic=topic, partition=partition, to=to):
                return _led_by(view, topic, partition, to)
        return view

    return apply


def _without(view: ClusterView, leaving: tuple[int, ...]) -> ClusterView:
    for broker in leaving:
        if broker not in view.brokers:
            raise SelectorError("broker-gone", f"broker {broker} is no member", "name another broker", broker)
    left = tuple(broker for broker in view.brokers if broker not in leaving)
    if not left:
        text = "no broker would be left: a cluster without brokers is none"
        raise SelectorError("no-brokers-left", text, "leave one of them", leaving[0])

    def moved(placed: PartitionView) -> PartitionView:
        staying = [broker for broker in placed.replicas if broker in left]
        others = [broker for broker in left if broker not in staying]
        replicas = tuple((staying + others)[: len(placed.replicas)])
        leader = placed.leader if placed.leader in (*replicas, None) else replicas[0]
        return PartitionView(leader=leader, replicas=replicas)

    topics = {name: tuple(map(moved, partitions)) for name, partitions in view.topics.items()}
    controller = view.controller if view.controller in left else left[0]
    departed = tuple(sorted((*view.departed, *leaving)))
    return replace(view, brokers=left, controller=controller, topics=topics, departed=departed)


def _with(view: ClusterView, joining: tuple[int, ...], declared: ClusterView) -> ClusterView:
    def placed(name: str, number: int, now: PartitionView) -> PartitionView:
        earlier = declared.topics[name][number]
        return earlier if set(earlier.replicas) & set(joining) else now

    return replace(
        view,
        brokers=tuple(sorted((*view.brokers, *joining))),
        departed=tuple(broker for broker in view.departed if broker not in joining),
        topics={
            name: tuple(placed(name, number, now) for number, now in enumerate(partitions))
            for name, partitions in view.topics.items()
        },
    )


def _led_by(view: ClusterView, topic: str, partition: int, leader: int | None) -> ClusterView:
    partitions = list(view.topics[topic])
    partitions[partition] = replace(partitions[partition], leader=leader)
    return replace(view, topics={**view.topics, topic: tuple(partitions)})
