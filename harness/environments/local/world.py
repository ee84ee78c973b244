"""One run's world in a cell: broker processes, a real Toxiproxy before them, and what may be done to it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from random import Random

from harness.brokers.cluster import BrokerFailed, ClusterStateError, LogUnreadable
from harness.brokers.kind import EMBEDDED
from harness.brokers.names import NAME_SERVER, dialled_as
from harness.cluster_view import ClusterView
from harness.environments.held_requests import holding_request
from harness.environments.linux import addresses, loopback, sysctls
from harness.environments.linux.conversation_capture import ConversationCapture
from harness.environments.linux.delays import ProcessDelays, Watch
from harness.environments.linux.dial_capture import DialCapture, DialCaptureFailed
from harness.environments.linux.levers import LINUX_LEVERS, LinuxParts
from harness.environments.linux.loop_lag import LoopLagMonitor
from harness.environments.linux.packet_hold import PacketHolds
from harness.environments.linux.packet_socket import PacketSocketRefused
from harness.environments.linux.packets import PacketRuleError, PacketTable
from harness.environments.linux.proxy_capture import ProxyCapture
from harness.environments.linux.sockets import SocketTable
from harness.environments.linux.toxiproxy import server as toxiproxy_server
from harness.environments.linux.toxiproxy.client import BlockingToxiproxy, ToxiproxyClient
from harness.environments.linux.toxiproxy.http_transport import ToxiproxyFailed
from harness.environments.linux.traffic_capture import TrafficCapture
from harness.environments.local import resolv_conf, subject
from harness.environments.local.brokers import ForkedBrokers, describe_unexpected_exit
from harness.environments.local.children import ChildFiles, ChildProcess, execute
from harness.environments.local.logs import CellLogs
from harness.environments.local.resolv_conf import NamesUnavailable
from harness.environments.name_server import NameServer
from harness.environments.planned_packets import planned_packets
from harness.environments.settling import require_partition, settle
from harness.environments.world import CLIENT, ActiveLever, Dial, Program, WireSpan, WorldError
from harness.event import OneShotEvent
from harness.levers import Intercept, Lever
from harness.plan import ClusterShape, RunPlan
from harness.story import SettleResult, StoredRecord

CLUSTERS: Mapping[str, Callable[[ClusterShape, CellLogs, Watch], ForkedBrokers]] = {EMBEDDED: ForkedBrokers.start}
"""Starts a cluster in a cell, by its kind."""
_TOXIPROXY_LOG = "toxiproxy.log"
_HOLD = "what holds packets"


class LocalWorld:
    """`harness.environments.world.World`. Opened by `LocalWorld.opened`, in a cell."""

    def __init__(
        self,
        plan: RunPlan,
        logs: CellLogs,
        parts: LinuxParts,
        wire: DialCapture,
        conversations: ConversationCapture | None,
        delays: ProcessDelays,
        started: Callable[[], None],
    ) -> None:
        self.cluster: ClusterShape = plan.cluster
        self.rng = Random(f"{plan.seed}/{plan.repeat}/world")
        self.kernel = sysctls.kernel()
        self._logs = logs
        self._parts = parts
        self._wire = wire
        self._conversations = conversations
        self._started = started
        self._delays = delays
        self.advertised_address = dialled_as(plan.cluster, addresses.advertised_address)
        self._failure: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, plan: RunPlan, folder: Path | None, toxiproxy: Path, started: Callable[[], None]
    ) -> AsyncIterator["LocalWorld"]:
        """Brokers and proxies listen. `started` is called when the first subject has written something.

        Processes are not ended on leaving: the end of the cell does that. Raises WorldError.
        """
        logs = CellLogs(folder)
        async with AsyncExitStack() as stack:
            with _failures_named(logs):
                if any(lever.counts_segments for lever in planned_packets(plan.cluster, plan.steps)):
                    loopback.send_ordinary_packets()
                # Processes first: they come up while the rest is made, and no thread exists yet.
                proxying = _start_toxiproxy(toxiproxy, logs)
                delays = ProcessDelays()
                delays.watch("Toxiproxy", proxying.pid)
                brokers = CLUSTERS[plan.cluster.kind](plan.cluster, logs, delays.watch)
                table = PacketTable()
                stack.callback(table.close)
                await table.open()
                wire = DialCapture()
                stack.callback(wire.close)
                conversations = None
                if plan.client.driver != "bundled":
                    conversations = ConversationCapture()
                    stack.callback(conversations.close)
                traffic = TrafficCapture()
                stack.callback(traffic.close)
                proxied = ProxyCapture()
                stack.callback(proxied.close)
                holds = PacketHolds(table)
                stack.callback(holds.close)
                names = NameServer(plan.cluster, addresses.advertised_address, time.monotonic_ns)
                stack.callback(names.close)
                if plan.cluster.names:
                    await names.open()
                    resolv_conf.name(NAME_SERVER[0])
                await brokers.ready()
                client = ToxiproxyClient(*addresses.TOXIPROXY)
                stack.callback(client.close)
                await toxiproxy_server.await_ready(client, proxying.alive)
                await client.call(lambda server: _create_proxies(server, plan.cluster))
            parts = LinuxParts(table, client, brokers, traffic, holds, proxied, names)
            stack.callback(parts.full_queue.close)
            stack.callback(parts.dark_ipv6.close)
            world = cls(plan, logs, parts, wire, conversations, delays, started)
            proxying.ended.add_done_callback(
                lambda _: world._fail(describe_unexpected_exit(proxying, logs, _TOXIPROXY_LOG))
            )
            brokers.died.add_done_callback(lambda died: world._fail(died.result()))
            yield world

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def view(self) -> ClusterView:
        return self._parts.brokers.state()

    def pull(self, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]:
        return self._pulling(lever)

    def hold_request(self, request: Intercept) -> AbstractAsyncContextManager[OneShotEvent]:
        return self._holding(request)

    @asynccontextmanager
    async def _holding(self, request: Intercept) -> AsyncIterator[OneShotEvent]:
        with _failures_named(self._logs):
            async with holding_request(self._parts.brokers, request) as came:
                yield came

    @asynccontextmanager
    async def _pulling(self, lever: Lever) -> AsyncIterator[ActiveLever]:
        with _failures_named(self._logs):
            async with LINUX_LEVERS.pull(self._parts, lever) as pulled:
                yield pulled

    async def start(self, program: Program, log: Path | None) -> subject.SubjectProcess:
        started = await subject.start(program, log, self._started)
        self._delays.watch(CLIENT, started.pid)
        return started

    def monitor_lag(self) -> LoopLagMonitor:
        return LoopLagMonitor()

    def delays(self) -> Mapping[str, float]:
        late_s, holds = self._delays.read(), self._parts.holds
        return {**late_s, _HOLD: holds.late_s()} if late_s and holds.made else late_s

    async def settle(self, limit_s: float) -> SettleResult:
        async with SocketTable() as sockets:
            return await settle(sockets.may_deliver, limit_s=limit_s)

    async def read_log(self, topic: str, partition: int) -> tuple[StoredRecord, ...]:
        require_partition(self.cluster, topic, partition)
        try:
            return await self._parts.brokers.read_log(topic, partition)
        except LogUnreadable as exc:
            raise WorldError("log-unreadable", f"the log of {topic}-{partition} cannot be read: {exc}") from exc

    def dials(self) -> tuple[Dial, ...]:
        with _failures_named(self._logs):
            return self._wire.dials()

    def wire_spans(self) -> tuple[WireSpan, ...]:
        return () if self._conversations is None else self._conversations.spans()

    def failure(self) -> "asyncio.Future[str]":
        return self._failure

    def _fail(self, text: str) -> None:
        """A process has ended by itself: the first one counts."""
        if not self._failure.done():
            self._failure.set_result(text)


@contextmanager
def _failures_named(logs: CellLogs) -> Iterator[None]:
    """Turn what the parts of a world raise into WorldError."""
    try:
        yield
    except PacketRuleError as exc:
        raise WorldError("packets-refused", str(exc)) from exc
    except ToxiproxyFailed as exc:
        raise WorldError("toxiproxy-failed", f"{exc}; {logs.describe_tail(_TOXIPROXY_LOG)}") from exc
    except BrokerFailed as exc:
        raise WorldError("broker-failed", str(exc)) from exc
    except (DialCaptureFailed, PacketSocketRefused) as exc:
        raise WorldError("wire-unseen", str(exc)) from exc
    except ClusterStateError as exc:
        raise WorldError("plan-unusable", str(exc)) from exc
    except NamesUnavailable as exc:
        raise WorldError("names-unavailable", str(exc)) from exc


def _start_toxiproxy(program: Path, logs: CellLogs) -> ChildProcess:
    nowhere = os.open(os.devnull, os.O_RDWR)
    log = logs.open_for_append(_TOXIPROXY_LOG)
    try:
        return execute(
            "Toxiproxy",
            toxiproxy_server.command(program, *addresses.TOXIPROXY),
            {**os.environ, **toxiproxy_server.ENVIRONMENT},
            ChildFiles(stdin=nowhere, stdout=log, stderr=log),
        )
    except OSError as exc:
        raise WorldError("toxiproxy-failed", f"{program} cannot be executed: {exc.strerror}") from exc
    finally:
        os.close(nowhere)
        os.close(log)


def _create_proxies(server: BlockingToxiproxy, cluster: ClusterShape) -> None:
    for broker in cluster.broker_ids:
        server.create(
            addresses.proxy_name(broker),
            listen=addresses.text(addresses.advertised_address(broker)),
            upstream=addresses.text(addresses.broker(broker)),
        )
