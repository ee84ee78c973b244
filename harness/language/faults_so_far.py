"""What earlier steps have made of the cluster by the time a fault is injected, and faults that cannot be by then.

Only what is certain counts: a fault that waits for a request may be in force or not, one that is healed by time or
recurs is so for the step right behind it alone, and what a selector such as `leader(orders/0)` means shows in the run.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

from harness.cluster_view import ClusterView, PartitionView
from harness.faults.brokers import OTHERS, SelectorError, depends_on_cluster
from harness.levers import (
    AddMembers,
    BrokerLever,
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
    number: int
    """Of its step."""
    lasts_s: float
    absent: tuple[ClusterChange, ...]
    """What its levers have changed since the run began."""
    levers: tuple[Lever, ...] = ()
    """Those that are pulled for certain."""

    @property
    def changes(self) -> tuple[ClusterChange, ...]:
        """Those that last."""
        return _changes(self.levers) if self.lasts_s == inf else ()

    @property
    def brokers(self) -> frozenset[int]:
        return frozenset(lever.broker for lever in self.levers if isinstance(lever, BrokerLever))

    @property
    def killed(self) -> frozenset[int]:
        return frozenset(lever.broker for lever in self.levers if isinstance(lever, Signal) and lever.kind == "kill")

    def outlasts(self, step: PlannedFault, number: int) -> bool:
        """Whether it is in force for certain when this step begins."""
        if self.lasts_s == inf:
            return True
        directly = number == self.number + 1 and step.trigger is None and step.when.alias in (None, self.alias)
        return directly and step.when.after_s + step.when.spread_s < self.lasts_s


class FaultsSoFar:
    """The faults that steps read so far leave in force for certain, in a cluster that was `declared` so."""

    def __init__(self, declared: ClusterView, in_force: tuple[_InForce, ...] = ()) -> None:
        self._declared = declared
        self._in_force = in_force
        self._members_known = True

    def add(self, step: PlannedFault, number: int) -> None:
        """`number`: of the step. Raises SelectorError where the fault cannot be injected; it is not in force then."""
        in_force = [one for one in self._in_force if one.outlasts(step, number)]
        if depends_on_cluster(step.fault):
            self._check_selectors(step, in_force)
            return
        absent = _changes(step.fault.beforehand(self._declared))
        healed_s = (step.for_s, None if step.recurs is None else step.recurs.every_s)
        lasts_s = min((after_s for after_s in healed_s if after_s is not None), default=inf)
        added = _InForce(step.alias, number, lasts_s, absent)
        view = self._view_with(added)
        stages = step.fault.stages(self._declared if absent else view)
        levers = tuple(stage.lever for stage in stages if not stage.ends)
        _check_running(levers, in_force)
        reduce(_changed(self._declared), _changes(levers), view)
        if step.trigger is None:
            added = replace(added, levers=levers)
        if not added.changes:
            self._note_uncertain(levers)
        self._in_force = (*self._in_force, added)

    def heal(self, alias: str) -> None:
        """What it changed before it was injected stays so."""
        self._in_force = tuple(replace(one, levers=()) if one.alias == alias else one for one in self._in_force)

    def in_the_way(self, step: PlannedFault, number: int) -> str | None:
        """The earlier fault that makes the step's impossible, the last one of several that do so together."""
        for count in range(len(self._in_force) + 1):
            try:
                FaultsSoFar(self._declared, self._in_force[:count]).add(step, number)
            except SelectorError:
                return self._in_force[count - 1].alias if count > 0 else None
        return None

    def _view_with(self, *added: _InForce) -> ClusterView:
        changed = _changed(self._declared)
        all_of_them = (*self._in_force, *added)
        began = reduce(changed, (change for one in all_of_them for change in one.absent), self._declared)
        return reduce(changed, (change for one in all_of_them for change in one.changes), began)

    def _check_selectors(self, step: PlannedFault, in_force: Iterable[_InForce]) -> None:
        """Raises SelectorError where the fault names the leader of a topic that an earlier fault has deleted, or
        `others` while earlier ones are in force on every broker."""
        certain = in_force if self._members_known and step.trigger is None else ()
        selected = frozenset(broker for one in certain for broker in one.brokers)
        try:
            stages = step.fault.stages(replace(self._view_with(), selected=selected))
        except SelectorError as error:
            if error.code == "unknown-topic" or error.item == OTHERS:
                raise
            return
        self._note_uncertain(stage.lever for stage in stages)

    def _note_uncertain(self, levers: Iterable[Lever]) -> None:
        """Where one of these changes who is a member, it shows in the run which brokers `all` means from now on."""
        self._members_known &= not any(isinstance(change, AddMembers | RemoveMembers) for change in _changes(levers))


def _check_running(levers: Sequence[Lever], in_force: Iterable[_InForce]) -> None:
    """A process that an earlier fault keeps killed can be neither paused nor restarted."""
    for one in in_force:
        for lever in levers if one.lasts_s == inf else levers[:1]:  # by the next lever it may have been healed
            if isinstance(lever, Signal) and lever.kind != "kill" and lever.broker in one.killed:
                text = f"broker {lever.broker} has no process"
                raise SelectorError("broker-gone", text, "name another broker", lever.broker)


def _changes(levers: Iterable[Lever]) -> tuple[ClusterChange, ...]:
    return tuple(lever.change for lever in levers if isinstance(lever, ChangeCluster))


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
