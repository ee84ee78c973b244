"""The two worlds that a contract check runs in: simulated, and real in a fresh cell; as sockets alone, or whole."""

import asyncio
import socket
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from machine_noise import Lateness
from talk import REPLICATED, TOPIC
from toolkit import ADDRESS, UPSTREAM, Check

from harness.brokers.cluster import BrokerCluster
from harness.brokers.kind import EMBEDDED, ClusterKind, cluster_kind
from harness.environments.linux import addresses, loopback
from harness.environments.linux.addresses import TOXIPROXY
from harness.environments.linux.delays import ProcessDelays
from harness.environments.linux.packet_hold import PacketHolds
from harness.environments.linux.packets import PacketTable, RuleGroup, chain_for, rules_for
from harness.environments.linux.toxiproxy.client import ToxiproxyClient
from harness.environments.linux.toxiproxy.server import await_ready, command
from harness.environments.local.cell import call_in_cell
from harness.environments.local.logs import CellLogs
from harness.environments.local.world import CLUSTERS, LocalWorld
from harness.environments.sim.brokers import SimBrokers
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.proxy import Proxy
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.sender import ETHERNET_SEGMENT_SIZE
from harness.environments.sim.simulation import simulate
from harness.environments.sim.world import SimWorld
from harness.environments.world import World
from harness.levers import FilterPackets, Flow, PacketAction
from harness.plan import ClientPlan, ClusterShape, RunPlan, Topic
from harness.toxiproxy.obtain import ToxiproxyMissing, find

LIMIT_S = 90.0

PLAN = RunPlan(
    run_id="contract",
    scenario="contract",
    path=Path("contract.scenario.yaml"),
    about="",
    tags=(),
    environment="",
    client=ClientPlan(name="own", version="1", argv=("subject",)),
    settings=(),
    given_settings=(),
    parameters=(),
    cluster=ClusterShape(
        brokers=2,
        topics=(
            Topic(name=TOPIC, partitions=2, leaders=(1, 2)),
            Topic(name=REPLICATED, partitions=1, replication=2, leaders=(1,)),
        ),
    ),
    steps=(),
    expectations=(),
    seed=7,
    repeat=1,
)
"""Two brokers; broker 1 leads partition 0, broker 2 partition 1. Of another topic's, both have a replica."""
NAMED = replace(PLAN, cluster=replace(PLAN.cluster, names=True))
"""The same two, reached by names."""


class SimKit:
    """Everything happens when it is due."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    @property
    def slack_s(self) -> float:
        return 0.001

    @asynccontextmanager
    async def packets(
        self, flow: Flow, *, only: str = "any", verdict: PacketAction = PacketAction.DROP, **more: Any
    ) -> AsyncIterator["SimCounter"]:
        lever = FilterPackets(broker=1, flow=flow, only=only, verdict=verdict, **more)
        with self._loop.network.rule(PacketRule.of(lever, ADDRESS)) as rule:
            yield SimCounter(rule)

    def send_ordinary_packets(self) -> None:
        self._loop.network.segment_size = ETHERNET_SEGMENT_SIZE

    def timeout_s(self, writer: asyncio.StreamWriter) -> float:
        local, remote = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        return self._loop.network.sockets[local, remote].sender.round_trip.timeout_s

    @asynccontextmanager
    async def listening(self, *, backlog: int) -> AsyncIterator[None]:
        listener = self._loop.network.listen(ADDRESS, backlog)
        yield
        listener.close()

    @asynccontextmanager
    async def proxy(self) -> AsyncIterator["SimProxied"]:
        proxy = Proxy(self._loop.new_host("proxies"), self._loop, ADDRESS, UPSTREAM, Random(5))
        proxy.enable()
        yield SimProxied(proxy)


class SimProxied:
    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    async def enable(self) -> None:
        self._proxy.enable()

    async def disable(self) -> None:
        await self._proxy.disable()

    async def add(self, kind: str, flow: Flow, *, toxicity: float = 1.0, **attributes: int) -> object:
        return await self._proxy.add(kind, flow, attributes, toxicity), flow

    async def remove(self, toxic: object) -> None:
        await self._proxy.remove(*toxic)  # type: ignore[misc]


class SimCounter:
    def __init__(self, rule: PacketRule) -> None:
        self._rule = rule

    async def packets(self) -> int:
        return self._rule.packets


class CellKit:
    def __init__(self, table: PacketTable) -> None:
        self._table = table
        self._holds = PacketHolds(table)
        self._lateness = Lateness()

    @property
    def slack_s(self) -> float:
        return 0.3 + self._lateness.total_s

    def send_ordinary_packets(self) -> None:
        loopback.send_ordinary_packets()

    def timeout_s(self, writer: asyncio.StreamWriter) -> float:
        info = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        (rto_us,) = struct.unpack_from("I", info, 8)
        return float(rto_us / 1e6)

    @asynccontextmanager
    async def packets(
        self, flow: Flow, *, only: str = "any", verdict: PacketAction = PacketAction.DROP, **more: Any
    ) -> AsyncIterator["CellCounter"]:
        lever = FilterPackets(broker=1, flow=flow, only=only, verdict=verdict, **more)
        if lever.delays is not None:
            async with self._holds.holding(lever) as (_, held):
                yield CellCounter(held)
            return
        group = await self._table.add(chain_for(lever), [rule.expressions for rule in rules_for(lever, *ADDRESS)])
        try:
            yield CellCounter(group)
        finally:
            await group.remove()

    @asynccontextmanager
    async def listening(self, *, backlog: int) -> AsyncIterator[None]:
        with socket.create_server(ADDRESS, backlog=backlog):
            yield

    @asynccontextmanager
    async def proxy(self) -> AsyncIterator["CellProxied"]:
        try:
            program = find()
        except ToxiproxyMissing as missing:
            pytest.skip(missing.reason)
        server = await asyncio.create_subprocess_exec(
            *command(program, *TOXIPROXY), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        client = ToxiproxyClient(*TOXIPROXY)
        try:
            await await_ready(client, lambda: server.returncode is None)
            await client.call(lambda it: it.create("p", listen=_text(ADDRESS), upstream=_text(UPSTREAM)))
            yield CellProxied(client)
        finally:
            client.close()
            server.kill()
            await server.wait()


class CellProxied:
    def __init__(self, client: ToxiproxyClient) -> None:
        self._client = client
        self._toxics = 0

    async def enable(self) -> None:
        await self._client.call(lambda it: it.enable("p"))

    async def disable(self) -> None:
        await self._client.call(lambda it: it.disable("p"))

    async def add(self, kind: str, flow: Flow, *, toxicity: float = 1.0, **attributes: int) -> object:
        self._toxics += 1
        name, stream = f"t{self._toxics}", "upstream" if flow == "to_broker" else "downstream"
        await self._client.call(
            lambda it: it.add_toxic("p", name, kind=kind, stream=stream, attributes=attributes, toxicity=toxicity)
        )
        return name

    async def remove(self, toxic: object) -> None:
        await self._client.call(lambda it: it.remove_toxic("p", toxic))


def _text(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"


class CellCounter:
    def __init__(self, group: RuleGroup) -> None:
        self._group = group

    async def packets(self) -> int:
        return sum(await self._group.packet_counts())


def run_in_sim(check: Check) -> None:
    """On virtual time: ends at once. A check that hangs ends as a deadlock that says where."""
    simulate(lambda loop: check(SimKit(loop)), Random(11))


def run_in_cell(check: Check) -> None:
    """On real sockets, in a network namespace of its own."""

    async def body() -> None:
        table = PacketTable()
        await table.open()
        try:
            await check(CellKit(table))
        finally:
            table.close()

    call_in_cell(body, timeout_s=LIMIT_S)


WorldCheck = Callable[[World], Awaitable[None]]


def run_in_simulated_world(check: WorldCheck, plan: RunPlan = PLAN) -> None:
    async def main(loop: SimLoop) -> None:
        async with SimWorld.opened(loop, plan, None) as world:
            await check(world)
            assert world.failed is None, world.failed

    simulate(main, Random(11))


def run_in_cells_world(check: WorldCheck, plan: RunPlan = PLAN) -> None:
    """With a real Toxiproxy and a process for each broker."""
    try:
        program = find()
    except ToxiproxyMissing as missing:
        pytest.skip(missing.reason)

    async def body() -> None:
        async with LocalWorld.opened(plan, None, program, lambda: None) as world:
            await check(world)
            assert not world.failure().done(), world.failure().result()

    call_in_cell(body, timeout_s=LIMIT_S)


@dataclass(frozen=True)
class ClusterKit:
    """Two brokers that a check dials without a proxy."""

    kind: ClusterKind
    brokers: BrokerCluster

    def listen_address(self, broker: int) -> tuple[str, int]:
        return addresses.broker(broker)


ClusterCheck = Callable[[ClusterKit], Awaitable[None]]
SHAPE = ClusterShape(brokers=2, topics=(Topic(name=TOPIC, partitions=2, replication=2, leaders=(1, 2)),))


def run_on_simulated_hosts(check: ClusterCheck) -> None:
    async def main(loop: SimLoop) -> None:
        brokers = SimBrokers(
            loop, SHAPE, advertised_address=addresses.broker, listen_address=addresses.broker, logs=None
        )
        await brokers.ready()
        await check(ClusterKit(cluster_kind(EMBEDDED), brokers))

    simulate(main, Random(11))


def run_in_cells_processes(kind: str, check: ClusterCheck) -> None:
    async def body() -> None:
        brokers = CLUSTERS[kind](SHAPE, CellLogs(None), ProcessDelays().watch)
        await brokers.ready()
        await check(ClusterKit(cluster_kind(kind), brokers))
        assert not brokers.died.done(), brokers.died.result()

    call_in_cell(body, timeout_s=LIMIT_S)


RUNS: dict[str, dict[str, Callable[[Any], None]]] = {
    "kit": {"sim": run_in_sim, "cell": run_in_cell},
    "world": {"sim": run_in_simulated_world, "cell": run_in_cells_world},
    "named_world": {
        "sim": partial(run_in_simulated_world, plan=NAMED),
        "cell": partial(run_in_cells_world, plan=NAMED),
    },
    "cluster": {
        "sim": run_on_simulated_hosts,
        **{f"cell-{kind}": partial(run_in_cells_processes, kind) for kind in CLUSTERS},
    },
}
"""By what a check takes, and by where it runs."""
