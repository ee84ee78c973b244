"""How each lever is pulled in the simulated world, and what proves its effect.

Pulling takes no time here: a lever is confirmed at the moment at which it began.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager

from harness.brokers.cluster import BrokerCluster
from harness.environments.broker_signals import SignalLevers
from harness.environments.cluster_levers import ClusterLevers
from harness.environments.holder_counts import HolderCounts
from harness.environments.lever_table import LeverTable, PulledLever
from harness.environments.name_server import LOOPBACK_IPV6, NameServer
from harness.environments.passage import ProxyPassage
from harness.environments.sim.addresses import PORT, PROBES, advertised_address
from harness.environments.sim.network import Network
from harness.environments.sim.proxy import Proxy
from harness.environments.sim.rules import DataTap, PacketRule, ProxyTap, RefusalTap
from harness.environments.sim.toxics import SimToxic
from harness.environments.toxics import ToxicLevers
from harness.environments.world import ActiveLever
from harness.levers import (
    DARK_IPV6,
    AnswerNames,
    ChangeCluster,
    CloseListener,
    DialsRefused,
    Evidence,
    FilterPackets,
    Flow,
    HoldState,
    Intercept,
    PacketAction,
    Signal,
    Toxic,
)
from harness.sightings import ConnectionSightings, is_within


class SimLinks:
    """The links between the client and the brokers: one network, and the proxies by their brokers' ids."""

    def __init__(self, network: Network, proxies: Mapping[int, Proxy]) -> None:
        self.network = network
        self.proxies = proxies
        self._unlistened = HolderCounts()

    def address(self, broker: int) -> tuple[str, int]:
        return self.proxies[broker].address

    def watch_data(self, broker: int, flow: Flow) -> AbstractContextManager[ConnectionSightings]:
        return self.network.tapped(DataTap(advertised_address(broker), flow, self.network.now_ns))

    def watch_proxy(self, broker: int, flow: Flow) -> AbstractContextManager[ProxyPassage]:
        proxy = self.proxies[broker]
        return self.network.tapped(ProxyTap(proxy.address, proxy.upstream, flow, self.network.now_ns))

    async def add_toxic(self, lever: Toxic) -> SimToxic:
        return await self.proxies[lever.broker].add(lever.kind, lever.flow, dict(lever.attributes), lever.toxicity)

    async def spare_connections(self, lever: Toxic, added: SimToxic) -> None:
        self.proxies[lever.broker].spare_connections(added, lever.flow)

    @asynccontextmanager
    async def dials_held(self, broker: int) -> AsyncIterator[None]:
        yield  # removing toxics takes no time here

    async def remove_toxic(self, lever: Toxic, added: SimToxic) -> None:
        await self.proxies[lever.broker].remove(added, lever.flow)

    async def clients_connected(self, broker: int) -> int:
        return sum(peer != PROBES for peer in self.proxies[broker].peers())

    @asynccontextmanager
    async def stop_listening(self, broker: int) -> AsyncIterator[ActiveLever]:
        proxy, began_ns = self.proxies[broker], self.network.now_ns()
        peers, of_the_client = proxy.peers(), await self.clients_connected(broker)
        tap = RefusalTap(proxy.address, self.network.now_ns)
        with self.network.refusals_tapped(tap):

            async def collect(since_ns: int | None, until_ns: int | None) -> DialsRefused:
                if since_ns is None and until_ns is None:
                    return DialsRefused(dials=tap.seen.total, connections=len(peers))
                cut = of_the_client if is_within(began_ns, since_ns, until_ns) else 0
                return DialsRefused(dials=tap.seen.count(since_ns, until_ns), connections=cut)

            pulled = PulledLever(began_ns, began_ns, collect)
            if self._unlistened.add_holder(broker):
                await proxy.disable()
            try:
                yield pulled
            finally:
                if self._unlistened.remove_holder(broker):
                    proxy.enable()


class SimParts:
    """What levers are pulled on."""

    def __init__(self, links: SimLinks, brokers: BrokerCluster, names: NameServer) -> None:
        self.names = names
        self.links = links
        self.brokers = brokers
        self.cluster = ClusterLevers(brokers, links.network.now_ns)
        self.signals = SignalLevers(
            brokers, links.stop_listening, links.watch_data, self.cluster.losing, links.network.now_ns
        )
        self.toxics = ToxicLevers(links, links.network.now_ns)


SIM_LEVERS: LeverTable[SimParts] = LeverTable()
"""Every lever that the simulation pulls."""


@SIM_LEVERS.pulls(FilterPackets)
@asynccontextmanager
async def _filter_packets(parts: SimParts, lever: FilterPackets) -> AsyncIterator[ActiveLever]:
    network = parts.links.network
    with network.rule(PacketRule.of(lever, advertised_address(lever.broker), network.now_ns)) as rule:

        async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
            if since_ns is None and until_ns is None:
                return lever.found(rule.packets, rule.refusals)
            return lever.found(rule.seen.count(since_ns, until_ns), rule.seen_refused.count(since_ns, until_ns))

        began_ns = network.now_ns()
        yield PulledLever(began_ns, began_ns, collect)


@SIM_LEVERS.pulls(AnswerNames)
@asynccontextmanager
async def _answer_names(parts: SimParts, lever: AnswerNames) -> AsyncIterator[ActiveLever]:
    dark = PacketRule((LOOPBACK_IPV6, PORT), "to_broker", "syn", PacketAction.DROP)
    async with AsyncExitStack() as stack:
        if DARK_IPV6 in (lever.addresses or ()):
            stack.enter_context(parts.links.network.rule(dark))
        yield await stack.enter_async_context(parts.names.pull(lever))


@SIM_LEVERS.pulls(Toxic, Toxic.unsupported_reason)
def _toxic(parts: SimParts, lever: Toxic) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.toxics.pull(lever)


@SIM_LEVERS.pulls(CloseListener)
def _close_listener(parts: SimParts, lever: CloseListener) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.links.stop_listening(lever.broker)


@SIM_LEVERS.pulls(Signal)
def _signal(parts: SimParts, lever: Signal) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.signals.pull(lever)


@SIM_LEVERS.pulls(ChangeCluster)
def _change_cluster(parts: SimParts, lever: ChangeCluster) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.cluster.change(lever)


@SIM_LEVERS.pulls(HoldState)
def _hold_state(parts: SimParts, lever: HoldState) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.cluster.hold(lever)


@SIM_LEVERS.pulls(Intercept)
@asynccontextmanager
async def _intercept(parts: SimParts, lever: Intercept) -> AsyncIterator[ActiveLever]:
    number = await parts.brokers.intercept(lever)
    seen = parts.brokers.interceptions(number)

    async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
        whole = since_ns is None and until_ns is None
        return lever.found(seen.total if whole else seen.count(since_ns, until_ns))

    try:
        began_ns = parts.links.network.now_ns()
        yield PulledLever(began_ns, began_ns, collect)
    finally:
        await parts.brokers.release(number)
