"""One simulated run: hosts for brokers, proxies, subject and conductor on one network, and what may be done to it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from harness.brokers.cluster import ClusterStateError
from harness.brokers.names import dialled_as
from harness.cluster_view import ClusterView
from harness.environments.held_requests import holding_request
from harness.environments.name_server import NameServer
from harness.environments.planned_packets import planned_packets
from harness.environments.settling import require_partition, settle
from harness.environments.sim.addresses import PORT, advertised_address
from harness.environments.sim.brokers import SimBrokers
from harness.environments.sim.host_logs import append_to_file
from harness.environments.sim.hosts import HOST, Host
from harness.environments.sim.levers import SIM_LEVERS, SimLinks, SimParts
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.process import SimProcess
from harness.environments.sim.proxy import Proxy
from harness.environments.sim.sender import ETHERNET_SEGMENT_SIZE
from harness.environments.sim.timers import HZ
from harness.environments.world import ActiveLever, BundledClient, Dial, Process, Program, WireSpan, WorldError
from harness.event import OneShotEvent
from harness.levers import Intercept, Lever
from harness.plan import ClusterShape, RunPlan
from harness.story import Kernel, SettleResult, StoredRecord

SUBJECT = "subject"

KERNEL = Kernel(
    release="simulated, after Linux 6.18",
    hz=HZ,
    sysctls={
        "net.ipv4.tcp_syn_linear_timeouts": "4",
        "net.ipv4.tcp_syn_retries": "6",
        "net.ipv4.tcp_synack_retries": "5",
        "net.ipv4.tcp_retries2": "15",
        "net.ipv4.tcp_orphan_retries": "0",
    },
)


class SimLagMonitor:
    """Lateness of the timers that fired since it was made: virtual time waits for everybody, so each is 0."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self._late_s: list[float] = []
        loop.watch_timers(self._late_s.append)

    def end(self) -> tuple[float, ...]:
        self._loop.watch_timers(None)
        return tuple(self._late_s)


class SimWorld:
    """`harness.environments.world.World`. Opened by `SimWorld.opened`, whose caller runs on the host `conductor`.

    `failed` says which part of the world died by itself, None where all is well: `failure` for after the run.
    """

    def __init__(self, loop: SimLoop, plan: RunPlan, logs: Path | None) -> None:
        self.cluster: ClusterShape = plan.cluster
        self.rng = Random(f"{plan.seed}/{plan.repeat}/world")
        self.kernel = KERNEL
        self.failed: str | None = None
        self._loop = loop
        self.advertised_address = dialled_as(plan.cluster, advertised_address)
        if any(lever.counts_segments for lever in planned_packets(plan.cluster, plan.steps)):
            loop.network.segment_size = ETHERNET_SEGMENT_SIZE
        self._proxies_host = loop.new_host("proxies")
        self._proxies = {
            broker: Proxy(self._proxies_host, loop, advertised_address(broker), _broker_address(broker), self.rng)
            for broker in plan.cluster.broker_ids
        }
        try:
            self._brokers = SimBrokers(
                loop,
                plan.cluster,
                advertised_address=self.advertised_address,
                listen_address=_broker_address,
                logs=logs,
            )
        except ClusterStateError as wrong:
            raise WorldError("plan-unusable", str(wrong)) from wrong
        self._names = NameServer(plan.cluster, advertised_address, loop.network.now_ns)
        self._parts = SimParts(SimLinks(loop.network, self._proxies), self._brokers, self._names)
        self._failure: asyncio.Future[str] = loop.create_future()

    @classmethod
    @asynccontextmanager
    async def opened(cls, loop: SimLoop, plan: RunPlan, logs: Path | None) -> AsyncIterator["SimWorld"]:
        """Brokers and proxies listen. On leaving, whatever still runs is left to the end of the simulation.

        Raises WorldError for a cluster that cannot be.
        """
        loop.main.name = "conductor"
        world = cls(loop, plan, logs)
        loop.set_exception_handler(world._unhandled)
        await world._brokers.ready()
        if plan.cluster.names:
            await world._names.open()
        for proxy in world._proxies.values():
            proxy.enable()
        yield world

    def now_ns(self) -> int:
        return round(self._loop.now * 1e9)

    def view(self) -> ClusterView:
        return self._brokers.state()

    def pull(self, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]:
        return SIM_LEVERS.pull(self._parts, lever)

    def hold_request(self, request: Intercept) -> AbstractAsyncContextManager[OneShotEvent]:
        return holding_request(self._brokers, request)

    async def start(self, program: Program, log: Path | None) -> Process:
        """Raises WorldError for a program of the user's."""
        if not isinstance(program, BundledClient):
            raise WorldError("cannot-start", f"sim cannot start {program.argv[0]}: it runs on virtual time")
        host = self._loop.new_host(SUBJECT)
        host.stderr = _ignored if log is None else append_to_file(log)
        return SimProcess(host, program.launch, self.now_ns)

    def monitor_lag(self) -> SimLagMonitor:
        return SimLagMonitor(self._loop)

    def delays(self) -> Mapping[str, float]:
        return {}

    async def settle(self, limit_s: float) -> SettleResult:
        return await settle(self._busy, limit_s=limit_s)

    async def _busy(self) -> bool:
        return bool(self._loop.network.undelivered_sockets())

    async def read_log(self, topic: str, partition: int) -> tuple[StoredRecord, ...]:
        require_partition(self.cluster, topic, partition)
        return await self._brokers.read_log(topic, partition)

    def dials(self) -> tuple[Dial, ...]:
        """None is looked for: only the bundled client runs here, and it tells of its own."""
        return ()

    def wire_spans(self) -> tuple[WireSpan, ...]:
        """None are looked for: the bundled client tells of its own."""
        return ()

    def failure(self) -> "asyncio.Future[str]":
        return self._failure

    def dispose(self) -> None:
        """The simulation is over: break reference cycles, so that its parts are freed at once."""
        for proxy in self._proxies.values():
            proxy.dispose()
        self._brokers.dispose()
        self._names.dispose()

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An uncaught error: the subject's goes to its log, any other is the world's failure."""
        host = _host_of(context)
        error = context.get("exception")
        text = context["message"] if error is None else f"{context['message']}: {error!r}"
        if host is not None and host.name == SUBJECT:
            assert host.stderr is not None, "a subject is started with one"
            host.stderr(text + "\n")
        elif self.failed is None:
            self.failed = f"an error in {'the kernel' if host is None else host.name}: {text}"
            self._failure.set_result(self.failed)


def _ignored(text: str) -> None:
    """For a subject whose log is not kept."""


def _broker_address(broker: int) -> tuple[str, int]:
    """Where the broker itself listens; only its proxy dials it."""
    return f"127.0.1.{broker}", PORT


def _host_of(context: dict[str, Any]) -> Host | None:
    handle = context.get("handle")
    found: Host | None = context.get("host")
    if found is None:
        found = HOST.get(None) if handle is None else handle._context.get(HOST)
    return found
