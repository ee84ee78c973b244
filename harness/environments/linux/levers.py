"""How each lever is pulled in a network namespace: what is done, what confirms, proves and undoes it.

Totals are what the kernel's rules, the brokers and the probes count. What met the client's traffic in an interval is
what a packet socket saw meanwhile, never more than the total.
"""

import asyncio
import socket
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from pathlib import Path

from harness.brokers.cluster import BrokerCluster
from harness.environments.broker_signals import SignalLevers
from harness.environments.cluster_levers import ClusterLevers
from harness.environments.holder_counts import HolderCounts
from harness.environments.lever_table import LeverTable, PulledLever
from harness.environments.linux import addresses
from harness.environments.linux.accept_queue import FullQueue, listen_overflows
from harness.environments.linux.packet_hold import PacketHolds
from harness.environments.linux.packets import (
    SEND,
    WATCH,
    PacketRuleError,
    PacketTable,
    RuleGroup,
    chain_for,
    count_from_client,
    count_refusals,
    rules_for,
    rules_that_duplicate,
)
from harness.environments.linux.proxy_capture import ProxyCapture
from harness.environments.linux.sockets import SocketTable
from harness.environments.linux.toxiproxy.client import ToxiproxyClient
from harness.environments.linux.traffic_capture import TrafficCapture
from harness.environments.name_server import LOOPBACK_IPV6, NameServer
from harness.environments.passage import ProxyPassage
from harness.environments.toxics import ToxicLevers
from harness.environments.world import ActiveLever, WorldError
from harness.levers import (
    DARK_IPV6,
    AnswerNames,
    ChangeCluster,
    CloseListener,
    Delays,
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
from harness.sightings import ConnectionSightings, Sightings, is_within

_LISTENER_LIMIT_S = 2.0
_LONGEST_HOLD_S = 60.0
_TCP_LISTEN = "0A"
_SAMPLING_S = 0.1
"""How often the counter of a rule on the sender's hook is read: no packet socket sees what such a rule drops."""


class LinuxParts:
    """What levers are pulled on in one network namespace."""

    def __init__(
        self,
        table: PacketTable,
        toxiproxy: ToxiproxyClient,
        brokers: BrokerCluster,
        traffic: TrafficCapture,
        holds: PacketHolds,
        proxied: ProxyCapture,
        names: NameServer,
    ) -> None:
        self.names = names
        self.table = table
        self.proxied = proxied
        self.holds = holds
        self.toxiproxy = toxiproxy
        self.brokers = brokers
        self.traffic = traffic
        self.cluster = ClusterLevers(brokers, time.monotonic_ns)
        self.signals = SignalLevers(
            brokers, self.stop_listening, self.watch_data, self.cluster.losing, time.monotonic_ns
        )
        self.toxics = ToxicLevers(self, time.monotonic_ns)
        self.full_queue = FullQueue(addresses.FULL_QUEUE)
        self.dark_ipv6 = FullQueue((LOOPBACK_IPV6, addresses.PORT))
        self._unlistened = HolderCounts()
        self._dials_held = HolderCounts()
        self._dial_holds: defaultdict[int, AsyncExitStack] = defaultdict(AsyncExitStack)
        self._toxics = 0

    def address(self, broker: int) -> tuple[str, int]:
        return addresses.advertised_address(broker)

    def watch_data(self, broker: int, flow: Flow) -> AbstractContextManager[ConnectionSightings]:
        return self.traffic.watch(self.address(broker)[0], flow, "data")

    def watch_proxy(self, broker: int, flow: Flow) -> AbstractContextManager[ProxyPassage]:
        return self.proxied.watch(broker, flow)

    async def add_toxic(self, lever: Toxic) -> str:
        self._toxics += 1
        name = f"toxic-{self._toxics}"
        await self.toxiproxy.call(
            lambda server: server.add_toxic(
                addresses.proxy_name(lever.broker),
                name,
                kind=lever.kind,
                stream="upstream" if lever.flow == "to_broker" else "downstream",
                attributes=dict(lever.attributes),
                toxicity=lever.toxicity,
            )
        )
        return name

    async def spare_connections(self, lever: Toxic, added: str) -> None:
        await self.toxiproxy.call(lambda server: server.spare_connections(addresses.proxy_name(lever.broker), added))

    @asynccontextmanager
    async def dials_held(self, broker: int) -> AsyncIterator[None]:
        if self._dials_held.add_holder(broker):
            await self._dial_holds[broker].enter_async_context(self.holds.holding(_every_dial(broker)))
        try:
            yield
        finally:
            if self._dials_held.remove_holder(broker):
                await self._dial_holds[broker].aclose()

    async def remove_toxic(self, lever: Toxic, added: str) -> None:
        await self.toxiproxy.call(lambda server: server.remove_toxic(addresses.proxy_name(lever.broker), added))

    async def clients_connected(self, broker: int) -> int:
        return sum(peer != addresses.PROBES for peer in await self._peers(broker))

    async def _peers(self, broker: int) -> list[str]:
        async with SocketTable() as sockets:
            return await sockets.established_peers(self.address(broker))

    @asynccontextmanager
    async def stop_listening(self, broker: int) -> AsyncIterator[ActiveLever]:
        address, proxy = self.address(broker), addresses.proxy_name(broker)
        began_ns = time.monotonic_ns()
        peers = await self._peers(broker)
        of_the_client = sum(peer != addresses.PROBES for peer in peers)
        watching = await self.table.add(WATCH, [count_refusals(*address)])
        try:
            with self.traffic.watch(address[0], "to_client", "refusal") as refusals:

                async def collect(since_ns: int | None, until_ns: int | None) -> DialsRefused:
                    (total,) = await watching.packet_counts()
                    if since_ns is None and until_ns is None:
                        return DialsRefused(dials=total, connections=len(peers))
                    self.traffic.read()
                    cut = of_the_client if is_within(began_ns, since_ns, until_ns) else 0
                    return DialsRefused(dials=min(refusals.packets(since_ns, until_ns), total), connections=cut)

                if self._unlistened.add_holder(broker):
                    await self.toxiproxy.call(lambda server: server.disable(proxy))
                try:
                    await _until_listening(address, wanted=False)
                    yield PulledLever(began_ns, time.monotonic_ns(), collect)
                finally:
                    if self._unlistened.remove_holder(broker):
                        await self.toxiproxy.call(lambda server: server.enable(proxy))
                        await _until_listening(address, wanted=True)
        finally:
            await watching.remove()


def _every_dial(broker: int) -> FilterPackets:
    """Held until it is let go."""
    until_undone = Delays(seconds=(_LONGEST_HOLD_S,))
    return FilterPackets(broker=broker, flow="to_broker", verdict=PacketAction.DELAY, only="syn", delays=until_undone)


LINUX_LEVERS: LeverTable[LinuxParts] = LeverTable()
"""Every lever that is pulled in a network namespace."""


@LINUX_LEVERS.pulls(FilterPackets)
def _packets(parts: LinuxParts, lever: FilterPackets) -> AbstractAsyncContextManager[ActiveLever]:
    match lever.verdict:
        case PacketAction.DELAY:
            return _hold_packets(parts, lever)
        case PacketAction.OVERFLOW:
            return _overflow_queue(parts, lever)
    return _filter_packets(parts, lever)


@asynccontextmanager
async def _overflow_queue(parts: LinuxParts, lever: FilterPackets) -> AsyncIterator[ActiveLever]:
    parts.full_queue.require()
    before = listen_overflows()
    async with _filter_packets(parts, lever) as filtering:

        async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
            syns = (await filtering.evidence(since_ns, until_ns)).amount
            return lever.found(min(round(syns), listen_overflows() - before), 0)

        yield PulledLever(filtering.began_ns, filtering.confirmed_ns, collect)


@asynccontextmanager
async def _hold_packets(parts: LinuxParts, lever: FilterPackets) -> AsyncIterator[ActiveLever]:
    began_ns = time.monotonic_ns()
    host, _ = addresses.advertised_address(lever.broker)
    async with AsyncExitStack() as stack:
        link = stack.enter_context(parts.traffic.watch(host, lever.flow, "any")) if lever.reorders else None

        def came_since(port: int, since_ns: int) -> int:
            parts.traffic.read()
            return 0 if link is None else link.packets_of(port, since_ns)

        hold, group = await stack.enter_async_context(parts.holds.holding(lever, came_since))

        async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
            hold.require_all()
            packets = sum(await group.packet_counts())
            return lever.found(min(packets, hold.count(since_ns, until_ns)), 0)

        yield PulledLever(began_ns, time.monotonic_ns(), collect)


@asynccontextmanager
async def _filter_packets(parts: LinuxParts, lever: FilterPackets) -> AsyncIterator[ActiveLever]:
    address = addresses.advertised_address(lever.broker)
    if lever.verdict is PacketAction.DUPLICATE:
        rules = rules_that_duplicate(lever, *address, parts.holds.next_number())
    else:
        rules = rules_for(lever, *address, holds=parts.holds.made)
    began_ns = time.monotonic_ns()
    async with AsyncExitStack() as stack:
        met = await stack.enter_async_context(_client_packets(parts, lever))
        group = await parts.table.add(chain_for(lever), [rule.expressions for rule in rules])
        stack.push_async_callback(group.remove)
        if lever.chance < 1:  # a packet socket does not see which are dropped
            met = await stack.enter_async_context(_sampled(group))

        async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
            counts = await group.packet_counts()
            packets = sum(counts)
            refusals = sum(n for n, rule in zip(counts, rules, strict=True) if rule.refuses)
            if since_ns is None and until_ns is None:
                return lever.found(packets, refusals)
            number = met(since_ns, until_ns)
            return lever.found(min(packets, number), min(refusals, number))

        yield PulledLever(began_ns, time.monotonic_ns(), collect)


_CountMet = Callable[[int | None, int | None], int]


@asynccontextmanager
async def _client_packets(parts: LinuxParts, lever: FilterPackets) -> AsyncIterator[_CountMet]:
    """Count the client's packets that a lever's rules match in an interval."""
    host, port = addresses.advertised_address(lever.broker)
    if lever.hook == "receiver":
        kind = "syn" if lever.verdict is PacketAction.REFUSE else lever.only
        with parts.traffic.watch(host, lever.flow, kind, at_most=lever.at_most) as seen:

            def met(since_ns: int | None, until_ns: int | None) -> int:
                parts.traffic.read()
                return seen.packets(since_ns, until_ns)

            yield met
        return
    # No packet socket sees what is dropped on the sender's hook: a separate rule counts the client's, and is sampled.
    group = await parts.table.add(SEND, [count_from_client(lever, host, port)])
    try:
        async with _sampled(group) as count:
            yield count
    finally:
        await group.remove()


@asynccontextmanager
async def _sampled(group: RuleGroup) -> AsyncIterator[_CountMet]:
    """Say when the rules have counted, by reading their counters again and again."""
    sampled = Sightings()

    async def sample() -> None:
        counted = sum(await group.packet_counts())
        for _ in range(counted - sampled.total):
            sampled.add(time.monotonic_ns())

    async def keep_sampling() -> None:
        while True:
            await asyncio.sleep(_SAMPLING_S)
            with suppress(PacketRuleError):  # the next sample has what this one missed
                await sample()

    sampling = asyncio.create_task(keep_sampling(), name="packet counter")
    try:
        yield sampled.count
    finally:
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
        with suppress(PacketRuleError):
            await sample()


@LINUX_LEVERS.pulls(Toxic, Toxic.unsupported_reason)
def _toxic(parts: LinuxParts, lever: Toxic) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.toxics.pull(lever)


@LINUX_LEVERS.pulls(AnswerNames)
@asynccontextmanager
async def _answer_names(parts: LinuxParts, lever: AnswerNames) -> AsyncIterator[ActiveLever]:
    if DARK_IPV6 in (lever.addresses or ()):
        parts.dark_ipv6.require()
    async with parts.names.pull(lever) as pulled:
        yield pulled


@LINUX_LEVERS.pulls(CloseListener)
def _close_listener(parts: LinuxParts, lever: CloseListener) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.stop_listening(lever.broker)


@LINUX_LEVERS.pulls(Signal)
def _signal(parts: LinuxParts, lever: Signal) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.signals.pull(lever)


@LINUX_LEVERS.pulls(ChangeCluster)
def _change_cluster(parts: LinuxParts, lever: ChangeCluster) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.cluster.change(lever)


@LINUX_LEVERS.pulls(HoldState)
def _hold_state(parts: LinuxParts, lever: HoldState) -> AbstractAsyncContextManager[ActiveLever]:
    return parts.cluster.hold(lever)


@LINUX_LEVERS.pulls(Intercept)
@asynccontextmanager
async def _intercept(parts: LinuxParts, lever: Intercept) -> AsyncIterator[ActiveLever]:
    began_ns = time.monotonic_ns()
    number = await parts.brokers.intercept(lever)
    seen = parts.brokers.interceptions(number)

    async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
        whole = since_ns is None and until_ns is None
        return lever.found(seen.total if whole else seen.count(since_ns, until_ns))

    try:
        yield PulledLever(began_ns, time.monotonic_ns(), collect)
    finally:
        await parts.brokers.release(number)


async def _until_listening(address: tuple[str, int], *, wanted: bool) -> None:
    """Wait until the kernel has a listener there, or none. A trial dial would be counted as a refusal."""
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
