"""How each lever is pulled in a cell: what is done, what confirms it, what proves its effect, what undoes it."""

import asyncio
import socket
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from harness.environments.broker_signals import SignalLevers
from harness.environments.holder_counts import HolderCounts
from harness.environments.linux import addresses
from harness.environments.linux.packets import (
    WATCH,
    NftRule,
    PacketTable,
    RuleGroup,
    chain_for,
    count_refusals,
    rules_for,
)
from harness.environments.linux.sockets import SocketTable
from harness.environments.linux.toxiproxy.client import ToxiproxyClient
from harness.environments.local.brokers import ForkedBrokers
from harness.environments.probe import DelayProbe
from harness.environments.world import ActiveLever, Evidence, WorldError
from harness.levers import CloseListener, FilterPackets, Intercept, Lever, PacketAction, Signal, Toxic

_PROBE_LIMIT_S = 2.0
_QUICK_SHARE = 0.05
"""Of a delay: a probe before it that takes no longer does not hide it. A proof lets it be off by twice as much."""
_LISTENER_LIMIT_S = 2.0
_TCP_LISTEN = "0A"


class ActivePackets:
    """A Packets lever: the rules' own counters are its evidence."""

    def __init__(self, began_ns: int, lever: FilterPackets, rules: tuple[NftRule, ...], group: RuleGroup) -> None:
        self.began_ns = began_ns
        self.confirmed_ns = time.monotonic_ns()
        self._resets = lever.verdict is PacketAction.RESET
        self._rules = rules
        self._group = group

    async def evidence(self) -> Evidence:
        packet_counts = await self._group.packet_counts()
        refused = sum(n for n, rule in zip(packet_counts, self._rules, strict=True) if rule.refuses)
        return Evidence(
            packets=sum(packet_counts), refusals=refused, connections=sum(packet_counts) if self._resets else 0
        )


class ActiveToxic:
    """A Toxic lever: a probe through the proxy, before and after, is its evidence."""

    def __init__(self, began_ns: int, probe: DelayProbe) -> None:
        self.began_ns = began_ns
        self.confirmed_ns = time.monotonic_ns()
        self._probe = probe

    async def evidence(self) -> Evidence:
        return Evidence(delay_s=await self._probe.delay_s())


class ActiveUnlisten:
    """An Unlisten lever: the resets that answered dials are counted by a rule of its own."""

    def __init__(self, began_ns: int, watching: RuleGroup, connections: int) -> None:
        self.began_ns = began_ns
        self.confirmed_ns = time.monotonic_ns()
        self._watching = watching
        self._connections = connections

    async def evidence(self) -> Evidence:
        (refusals,) = await self._watching.packet_counts()
        return Evidence(packets=refusals, refusals=refusals, connections=self._connections)


class ActiveIntercept:
    """An Intercept lever: the broker tells of each request that it takes."""

    def __init__(self, began_ns: int, count: Callable[[], int]) -> None:
        self.began_ns = began_ns
        self.confirmed_ns = time.monotonic_ns()
        self._count = count

    async def evidence(self) -> Evidence:
        return Evidence(intercepted=self._count())


class LeverPuller:
    """Pulls levers in one cell. Raises PacketsRefused, ToxiproxyFailed and BrokerFailed."""

    def __init__(self, table: PacketTable, toxiproxy: ToxiproxyClient, brokers: ForkedBrokers) -> None:
        self._brokers = brokers
        self._signals = SignalLevers(brokers, self._unlisten, time.monotonic_ns)
        self._unlistening = HolderCounts()
        self._table = table
        self._toxiproxy = toxiproxy
        self._toxics = 0
        self._delays_s: dict[int, float] = defaultdict(float)

    def pull(self, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]:
        match lever:
            case FilterPackets():
                return self._packets(lever)
            case Toxic():
                return self._toxic(lever)
            case CloseListener(broker=broker):
                return self._unlisten(broker)
            case Signal():
                return self._signals.pull(lever)
            case Intercept():
                return self._intercept(lever)

    @asynccontextmanager
    async def _packets(self, lever: FilterPackets) -> AsyncIterator[ActivePackets]:
        rules = rules_for(lever, *addresses.advertised_address(lever.broker))
        began_ns = time.monotonic_ns()
        group = await self._table.add(chain_for(lever), [rule.expressions for rule in rules])
        try:
            yield ActivePackets(began_ns, lever, rules, group)
        finally:
            await group.remove()

    @asynccontextmanager
    async def _toxic(self, lever: Toxic) -> AsyncIterator[ActiveToxic]:
        self._toxics += 1
        proxy, name = addresses.proxy_name(lever.broker), f"toxic-{self._toxics}"
        declared_s = sum(value for _, value in lever.attributes) / 1000
        limit_s = _PROBE_LIMIT_S + 2 * declared_s
        fast_enough_s = self._delays_s[lever.broker] + _QUICK_SHARE * declared_s
        address = addresses.advertised_address(lever.broker)
        probe = DelayProbe(address, limit_s=limit_s, fast_enough_s=fast_enough_s, source=addresses.PROBES)
        await probe.measure_before()
        began_ns = time.monotonic_ns()
        await self._toxiproxy.call(
            lambda server: server.add_toxic(
                proxy,
                name,
                kind=lever.kind,
                stream="upstream" if lever.flow == "to_broker" else "downstream",
                attributes=dict(lever.attributes),
            )
        )
        self._delays_s[lever.broker] += declared_s
        try:
            pulled = ActiveToxic(began_ns, probe)
            probe.start_measuring_after()
            yield pulled
        finally:
            self._delays_s[lever.broker] -= declared_s
            await probe.close()
            await self._toxiproxy.call(lambda server: server.remove_toxic(proxy, name))

    @asynccontextmanager
    async def _intercept(self, lever: Intercept) -> AsyncIterator[ActiveIntercept]:
        began_ns = time.monotonic_ns()
        number = await self._brokers.intercept(lever)
        try:
            yield ActiveIntercept(began_ns, lambda: self._brokers.intercepted(number))
        finally:
            await self._brokers.release(number)

    @asynccontextmanager
    async def _unlisten(self, broker: int) -> AsyncIterator[ActiveUnlisten]:
        address, proxy = addresses.advertised_address(broker), addresses.proxy_name(broker)
        began_ns = time.monotonic_ns()
        async with SocketTable() as sockets:
            connections = await sockets.count_established(address)
        watching = await self._table.add(WATCH, [count_refusals(*address)])
        try:
            if self._unlistening.add_holder(broker):
                await self._toxiproxy.call(lambda server: server.disable(proxy))
            try:
                await _until_listening(address, wanted=False)
                yield ActiveUnlisten(began_ns, watching, connections)
            finally:
                if self._unlistening.remove_holder(broker):
                    await self._toxiproxy.call(lambda server: server.enable(proxy))
                    await _until_listening(address, wanted=True)
        finally:
            await watching.remove()


async def _until_listening(address: tuple[str, int], *, wanted: bool) -> None:
    """Wait until the kernel has a listener there, or none. A dial would tell too, but would count as a refusal."""
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + _LISTENER_LIMIT_S
    while is_listening(address) is not wanted:
        if loop.time() > deadline_s:
            raise WorldError(
                "toxiproxy-failed",
                f"{addresses.text(address)} {'has no' if wanted else 'still has a'} listener {_LISTENER_LIMIT_S:g} s "
                "after Toxiproxy said otherwise",
            )
        await asyncio.sleep(0.001)


def is_listening(address: tuple[str, int]) -> bool:
    """Whether the kernel lists a TCP listener at this very address (proc_net_tcp of the kernel's documentation)."""
    # The kernel prints the address as a number of its own byte order.
    local = f"{int.from_bytes(socket.inet_aton(address[0]), sys.byteorder):08X}:{address[1]:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, found, _, state, *_ = line.split()
        if found == local and state == _TCP_LISTEN:
            return True
    return False
