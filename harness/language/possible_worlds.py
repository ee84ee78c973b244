"""What a run's world may be by one of its steps: the cluster, and the levers that are pulled there.

A cluster changes by the rules of its own kind. Who leads a partition once a process was killed, paused or restarted
depends on when sessions end, and is left open.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.brokers.cluster import ClusterStateError
from harness.brokers.kind import ClusterModel
from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel
from harness.faults.brokers import SelectorError
from harness.faults.partitions import partitions_named
from harness.levers import BrokerLever, ChangeCluster, ClusterChange, Lever, RemoveMembers, Signal


class UnclearError(Exception):
    """There are too many possibilities to look at each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleWorld:
    """`pulled` are levers with the alias of their fault, in their order.

    `prepared` are the levers of faults that chose them when the run began. `coming` are faults that may be injected at
    any time: upon their requests, or again.
    """

    cluster: ClusterModel
    pulled: tuple[tuple[str, Lever], ...] = ()
    prepared: tuple[tuple[str, tuple[Lever, ...]], ...] = ()
    coming: tuple[str, ...] = ()
    leaders_known: bool = True

    @property
    def in_force(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(alias for alias, _ in self.pulled))

    def views(self, fault: FaultModel) -> Iterator[ClusterView]:
        """The cluster as the fault may see it. Raises UnclearError."""
        selected = frozenset(lever.broker for _, lever in self.pulled if isinstance(lever, BrokerLever))
        view = replace(self.cluster.view, selected=selected)
        named = [] if self.leaders_known else [one for one in partitions_named(fault) if one[0] in view.topics]
        if len(named) > 1:
            raise UnclearError
        yield from (led for one in named for led in _led_by_each(view, *one))
        if not named:
            yield view

    def with_change(self, change: ClusterChange) -> "PossibleWorld":
        """Raises SelectorError."""
        if isinstance(change, RemoveMembers):
            self._check_leaving(change.brokers)
        try:
            return replace(self, cluster=self.cluster.changed(change))
        except ClusterStateError as error:
            raise SelectorError("fault", str(error), "", "") from error

    def with_pulled(self, alias: str, lever: Lever) -> "PossibleWorld":
        """Raises SelectorError."""
        world = self
        if isinstance(lever, ChangeCluster):
            world = self.with_change(lever.change)
        if isinstance(lever, Signal):
            if lever.kind != "kill" and any(_kills(other, lever.broker) for _, other in self.pulled):
                text = f"broker {lever.broker} has no process"
                raise SelectorError("broker-gone", text, "name another broker", lever.broker)
            world = replace(self, leaders_known=False)
        return replace(world, pulled=(*world.pulled, (alias, lever)))

    def without(self, alias: str) -> "PossibleWorld":
        """This fault's levers undone. Raises SelectorError."""
        left = tuple(one for one in self.pulled if one[0] != alias)
        world = replace(self, pulled=left)
        for _, lever in reversed([one for one in self.pulled if one[0] == alias]):
            if isinstance(lever, ChangeCluster):
                world = world._without_change(lever.change)
        return world

    def without_coming(self, alias: str) -> "PossibleWorld":
        return replace(self, coming=tuple(one for one in self.coming if one != alias))

    def _without_change(self, change: ClusterChange) -> "PossibleWorld":
        try:
            return replace(self, cluster=self.cluster.undone(change))
        except ClusterStateError as error:
            raise SelectorError("no-brokers-left", "no broker would be left", "leave one of them", "") from error

    def _check_leaving(self, brokers: tuple[int, ...]) -> None:
        members = self.cluster.view.brokers
        for broker in brokers:
            if broker not in members:
                raise SelectorError("broker-gone", f"broker {broker} is no member", "name another broker", broker)
        if set(members) == set(brokers):
            raise SelectorError("no-brokers-left", "no broker would be left", "leave one of them", brokers[0])


def _led_by_each(view: ClusterView, topic: str, number: int) -> Iterator[ClusterView]:
    """The view with each leader that the partition may have."""
    partitions = view.topics[topic]
    if number >= len(partitions):
        yield view
        return
    placed = partitions[number]
    for leader in (*placed.replicas, None):
        led = (*partitions[:number], replace(placed, leader=leader), *partitions[number + 1 :])
        yield replace(view, topics={**view.topics, topic: led})


def _kills(lever: Lever, broker: int) -> bool:
    return isinstance(lever, Signal) and lever.kind == "kill" and lever.broker == broker
