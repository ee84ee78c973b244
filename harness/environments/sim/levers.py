"""How each lever is pulled in the simulated world, and what proves its effect."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from harness.environments.broker_signals import SignalLevers
from harness.environments.holder_counts import HolderCounts
from harness.environments.probe import DelayProbe
from harness.environments.sim.addresses import advertised_address
from harness.environments.sim.brokers import SimBrokers
from harness.environments.sim.network import Network
from harness.environments.sim.proxy import Proxy
from harness.environments.sim.rules import PacketRule
from harness.environments.world import ActiveLever, Evidence
from harness.levers import CloseListener, FilterPackets, Intercept, Lever, PacketAction, Signal, Toxic

PROBE_LIMIT_S = 2.0
"""How long a probe waits beyond what the toxic itself declares."""


class InstantLever:
    """Pulling takes no time here: it is confirmed at the moment at which it began."""

    def __init__(self, at_ns: int) -> None:
        self.began_ns = at_ns
        self.confirmed_ns = at_ns


class ActivePackets(InstantLever):
    """A Packets lever: its rule's counters are its evidence."""

    def __init__(self, at_ns: int, rule: PacketRule) -> None:
        super().__init__(at_ns)
        self._rule = rule

    async def evidence(self) -> Evidence:
        rule = self._rule
        resets = rule.packets if rule.verdict is PacketAction.RESET else 0
        return Evidence(packets=rule.packets, refusals=rule.refusals, connections=resets)


class ActiveToxic(InstantLever):
    """A Toxic lever: a probe through the proxy, before and after, is its evidence."""

    def __init__(self, at_ns: int, probe: DelayProbe) -> None:
        super().__init__(at_ns)
        self._probe = probe

    async def evidence(self) -> Evidence:
        return Evidence(delay_s=await self._probe.delay_s())


class ActiveUnlisten(InstantLever):
    """An Unlisten lever: the resets with which the kernel answered dials are its evidence."""

    def __init__(self, at_ns: int, refused: Callable[[], int], connections: int) -> None:
        super().__init__(at_ns)
        self._refused = refused
        self._before = refused()
        self._connections = connections

    async def evidence(self) -> Evidence:
        refusals = self._refused() - self._before
        return Evidence(packets=refusals, refusals=refusals, connections=self._connections)


class ActiveIntercept(InstantLever):
    """An Intercept lever: the requests that its broker took are its evidence."""

    def __init__(self, at_ns: int, count: Callable[[], int]) -> None:
        super().__init__(at_ns)
        self._count = count

    async def evidence(self) -> Evidence:
        return Evidence(intercepted=self._count())


class LeverPuller:
    """Pulls levers on one network and its proxies, which are known by their broker's id."""

    def __init__(self, network: Network, proxies: Mapping[int, Proxy], brokers: SimBrokers) -> None:
        self._brokers = brokers
        self._unlisten = _Unlistening(network, proxies).unlisten
        self._signals = SignalLevers(brokers, self._unlisten, _now_ns)
        self._network = network
        self._proxies = proxies

    @asynccontextmanager
    async def pull(self, lever: Lever) -> AsyncIterator[ActiveLever]:
        """In force while the context is entered."""
        match lever:
            case FilterPackets():
                with self._network.rule(PacketRule.of(lever, advertised_address(lever.broker))) as rule:
                    yield ActivePackets(_now_ns(), rule)
            case Toxic():
                async with self._toxic(lever) as slowed:
                    yield slowed
            case CloseListener(broker=broker):
                async with self._unlisten(broker) as refusing:
                    yield refusing
            case Signal():
                async with self._signals.pull(lever) as signalled:
                    yield signalled
            case Intercept():
                number = self._brokers.intercept(lever)
                try:
                    yield ActiveIntercept(_now_ns(), lambda: self._brokers.intercepted(number))
                finally:
                    self._brokers.release(lever, number)

    @asynccontextmanager
    async def _toxic(self, lever: Toxic) -> AsyncIterator[ActiveToxic]:
        proxy = self._proxies[lever.broker]
        declared_s = sum(milliseconds for _, milliseconds in lever.attributes) / 1000
        probe = DelayProbe(proxy.address, limit_s=PROBE_LIMIT_S + 2 * declared_s)
        await probe.measure_before()
        toxic = proxy.add(lever.kind, lever.flow, dict(lever.attributes))
        try:
            pulled = ActiveToxic(_now_ns(), probe)
            probe.start_measuring_after()
            yield pulled
        finally:
            await probe.close()
            proxy.remove(toxic, lever.flow)


class _Unlistening:
    """Brokers at whose advertised port nobody listens."""

    def __init__(self, network: Network, proxies: Mapping[int, Proxy]) -> None:
        self._network = network
        self._proxies = proxies
        self._held = HolderCounts()

    @asynccontextmanager
    async def unlisten(self, broker: int) -> AsyncIterator[ActiveUnlisten]:
        proxy, refused = self._proxies[broker], self._network.refused
        pulled = ActiveUnlisten(_now_ns(), lambda: refused.get(proxy.address, 0), proxy.connections)
        if self._held.add_holder(broker):
            await proxy.disable()
        try:
            yield pulled
        finally:
            if self._held.remove_holder(broker):
                proxy.enable()


def _now_ns() -> int:
    return round(asyncio.get_running_loop().time() * 1e9)
