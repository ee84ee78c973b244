"""Changes of a cluster's state, and brokers that hear of none: what these levers do in every world."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain

from harness.brokers.cluster import BrokerCluster, ClusterStateError
from harness.environments.broker_signals import RequestCount
from harness.environments.lever_table import PulledLever
from harness.environments.world import ActiveLever, WorldError
from harness.levers import STATE_SEEN_IN, ChangeCluster, ChangeMet, HoldState, Intercept, OrdinaryAnswer, waiting_for
from harness.sightings import Sightings


class ClusterLevers:
    """Pulls ChangeCluster and HoldState."""

    def __init__(self, cluster: BrokerCluster, now_ns: Callable[[], int]) -> None:
        self._cluster = cluster
        self._now_ns = now_ns

    @asynccontextmanager
    async def change(self, lever: ChangeCluster) -> AsyncIterator[ActiveLever]:
        async with AsyncExitStack() as stack:
            seen_at = lever.change.seen_at
            watched = [
                await stack.enter_async_context(self._watched(broker, api, capped=lever.change.caps))
                for broker in (self._cluster.brokers if seen_at is None else (seen_at,))
                for api in lever.change.seen_in
            ]
            began_ns = self._now_ns()
            try:
                changed = await self._cluster.change(lever.change)
            except ClusterStateError as wrong:
                raise WorldError("plan-unusable", f"the cluster cannot change {lever.where}: {wrong}") from wrong
            stack.push_async_callback(self._undo, lever)
            confirmed_ns = self._now_ns()

            async def collect(since_ns: int | None, until_ns: int | None) -> ChangeMet:
                return _met(watched, max(since_ns or began_ns, began_ns), until_ns) if changed else ChangeMet()

            yield PulledLever(began_ns, confirmed_ns, collect)

    async def _undo(self, lever: ChangeCluster) -> None:
        try:
            await self._cluster.undo(lever.change)
        except ClusterStateError as wrong:
            raise WorldError("heal-failed", f"the cluster cannot undo its change of {lever.where}: {wrong}") from wrong

    @asynccontextmanager
    async def hold(self, lever: HoldState) -> AsyncIterator[ActiveLever]:
        async with AsyncExitStack() as stack:
            watched = [await stack.enter_async_context(self._watched(lever.broker, api)) for api in STATE_SEEN_IN]
            began_ns, known = self._now_ns(), len(self._cluster.changed_ns())
            self._cluster.hold(lever.broker)
            stack.push_async_callback(self._cluster.release_state, lever.broker)

            async def collect(since_ns: int | None, until_ns: int | None) -> ChangeMet:
                missed_ns = next(iter(self._cluster.changed_ns()[known:]), None)
                if missed_ns is None:
                    return ChangeMet()
                return _met(watched, max(since_ns or missed_ns, missed_ns), until_ns)

            yield PulledLever(began_ns, self._now_ns(), collect)

    @asynccontextmanager
    async def losing(self, broker: int, *, election_s: float, returns: bool = False) -> AsyncIterator[RequestCount]:
        """A broker is lost while the context is entered: counts acknowledgements of the others that have to wait for
        its replicas; and, once the cluster has given it up, `election_s` after now, their answers with metadata and the
        messages that they take as leaders in its place. Where it `returns` meanwhile, also its own metadata. Where it
        has no replicas, nothing changes and none counts."""
        async with AsyncExitStack() as stack:
            others = [other for other in self._cluster.brokers if other != broker] if self._has_replicas(broker) else []
            telling = [*others, broker] if others and returns else others
            watched = [await stack.enter_async_context(self._watched(one, "metadata")) for one in telling]
            if led := self._led_by(broker):
                watched += [await stack.enter_async_context(self._watched(one, "produce", led)) for one in others]
            waiting = [await stack.enter_async_context(self._watched(other, waiting_for(broker))) for other in others]
            lost_ns = self._now_ns()
            given_up_ns = self._now_ns() + round(election_s * 1e9)
            known = len(self._cluster.changed_ns())

            def count(since_ns: int | None, until_ns: int | None) -> int:
                waited = _met(waiting, max(since_ns or lost_ns, lost_ns), until_ns)
                later = self._cluster.changed_ns()[known:]
                changed_ns = next((at_ns for at_ns in later if at_ns >= given_up_ns), None)
                if changed_ns is None:
                    return waited.requests
                return (waited + _met(watched, max(since_ns or changed_ns, changed_ns), until_ns)).requests

            yield count

    def _led_by(self, broker: int) -> tuple[str, ...]:
        """The partitions that it leads now, such as `orders/0`."""
        topics = self._cluster.state().topics.items()
        return tuple(
            f"{name}/{index}" for name, placed in topics for index, one in enumerate(placed) if one.leader == broker
        )

    def _has_replicas(self, broker: int) -> bool:
        """Whether another broker has a partition that this one has, and so takes over from it."""
        partitions = chain.from_iterable(self._cluster.state().topics.values())
        return any(broker in placed.replicas and len(placed.replicas) > 1 for placed in partitions)

    @asynccontextmanager
    async def _watched(
        self, broker: int, api: str, partitions: tuple[str, ...] = (), *, capped: bool = False
    ) -> AsyncIterator[Sightings]:
        watching = Intercept(broker=broker, answer=OrdinaryAnswer(), api=api, partitions=partitions, capped=capped)
        number = await self._cluster.intercept(watching)
        try:
            yield self._cluster.interceptions(number)
        finally:
            await self._cluster.release(number)


def _met(watched: Iterable[Sightings], since_ns: int, until_ns: int | None) -> ChangeMet:
    return ChangeMet(requests=sum(seen.count(since_ns, until_ns) for seen in watched))
