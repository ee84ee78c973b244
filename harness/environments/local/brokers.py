"""The cluster of a cell: a controller in the conductor, and one forked process for each embedded broker."""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.brokers.cluster import BrokerFailed, LogUnreadable
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.file_log import read_valid_batches
from harness.brokers.embedded.link import BrokerLink
from harness.brokers.embedded.log import StorageError
from harness.brokers.embedded.process import run_broker
from harness.brokers.embedded.sessions import Sessions
from harness.brokers.names import dialled_as
from harness.brokers.security import BrokerSecurity, security_of
from harness.brokers.stored import decode_log
from harness.cluster_view import ClusterView
from harness.environments.linux import addresses
from harness.environments.linux.delays import Watch
from harness.environments.linux.sockets import SocketTable
from harness.environments.local.children import ChildFiles, ChildProcess, fork
from harness.environments.local.logs import CellLogs
from harness.levers import ClusterChange, HeldBack, Intercept
from harness.plan import ClusterShape
from harness.sightings import Sightings
from harness.story import StoredRecord

SIGNAL_LIMIT_S = 2.0
"""For the kernel to stop or resume a process, which takes microseconds."""

LOOK_S = 0.02
"""How often a broker that has not answered yet is looked at: it takes a millisecond."""


class ForkedBrokers:
    """`harness.brokers.cluster.BrokerCluster` of embedded brokers. `died` is done when one has ended by itself, and
    says which and how.

    A broker's intercepts belong to it, not to its process: they are installed again when it is restarted.
    """

    def __init__(self, controller: Controller, logs: CellLogs, watch: Watch, security: BrokerSecurity) -> None:
        self._controller = controller
        self._security = security
        self._watch = watch
        self.died: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._logs = logs
        self._sessions = Sessions(controller)
        self._processes: dict[int, ChildProcess] = {}
        self._channels: dict[int, socket.socket] = {}
        self._links: dict[int, BrokerLink] = {}
        self._intercepts: list[Intercept] = []
        self._released: set[int] = set()
        self._interceptions: dict[int, Sightings] = {}
        self._seen: Counter[int] = Counter()

    @classmethod
    def start(cls, cluster: ClusterShape, logs: CellLogs, watch: Watch) -> "ForkedBrokers":
        """Fork them; `watch` is called with each process. Raises ClusterStateError for a cluster that cannot be."""
        dialled = dialled_as(cluster, addresses.advertised_address)
        security = security_of(cluster, (dialled(broker)[0] for broker in cluster.broker_ids))
        brokers = cls(Controller(cluster, dialled), logs, watch, security)
        for broker in cluster.broker_ids:
            brokers._fork(broker)
        return brokers

    @property
    def brokers(self) -> Iterable[int]:
        return self._processes

    async def ready(self) -> None:
        for broker in self._channels:
            await self._link(broker)
        for broker in self._links:
            await self._ready(broker)

    def state(self) -> ClusterView:
        return self._controller.view()

    def running(self, broker: int) -> bool:
        return self._processes[broker].alive()

    async def hand_over(self, broker: int) -> None:
        self._sessions.lose(broker, 0.0)
        await self._applied(self._controller.state.epoch)

    async def kill(self, broker: int, *, election_s: float) -> None:
        """SIGKILL, and wait until it has ended."""
        self._sessions.lose(broker, election_s)
        self._controller.detach(self._links[broker].push)
        self._processes[broker].kill(whole_group=False)
        await self._processes[broker].wait()

    async def revive(self, broker: int) -> None:
        """Start a killed broker again, on its old logs; it listens on return. Raises BrokerFailed."""
        self._fork(broker)
        await self._link(broker)
        await self._ready(broker)
        for number in self._of(broker):
            if number not in self._released:
                await self._confirmed(broker, self._links[broker].intercept(number, self._intercepts[number]))
        self._sessions.regain(broker, restarted=True)

    async def pause(self, broker: int, *, election_s: float) -> None:
        """SIGSTOP, and wait until it is stopped. Raises BrokerFailed."""
        self._processes[broker].pause()
        await self._await_stopped(broker, wanted=True)
        self._sessions.lose(broker, election_s)

    async def resume(self, broker: int) -> None:
        """SIGCONT, and wait until it runs. Raises BrokerFailed."""
        self._processes[broker].resume()
        await self._await_stopped(broker, wanted=False)
        self._sessions.regain(broker, restarted=False)

    async def change(self, change: ClusterChange) -> bool:
        earlier = self._controller.state
        changed = self._controller.change(change)
        await self._applied(changed.epoch)
        return changed.differs_from(earlier)

    async def undo(self, change: ClusterChange) -> None:
        await self._applied(self._controller.undo(change).epoch)

    def hold(self, broker: int) -> None:
        self._controller.hold(broker)

    async def release_state(self, broker: int) -> None:
        self._controller.release(broker)
        await self._applied(self._controller.state.epoch)

    def changed_ns(self) -> tuple[int, ...]:
        return tuple(self._controller.changed_ns)

    async def read_log(self, topic: str, partition: int) -> tuple[StoredRecord, ...]:
        try:
            return decode_log(read_valid_batches(partitions(self._logs), topic, partition))
        except StorageError as exc:
            raise LogUnreadable(str(exc)) from exc

    def held(self, broker: int) -> int:
        holding = [n for n in self._of(broker) if isinstance(self._intercepts[n].answer, HeldBack)]
        return sum(self._interceptions[number].total for number in holding if number not in self._released)

    async def unread(self, broker: int) -> int:
        async with SocketTable() as sockets:
            return await sockets.unread(addresses.broker(broker))

    async def intercept(self, intercept: Intercept) -> int:
        number = len(self._intercepts)
        self._intercepts.append(intercept)
        self._interceptions[number] = Sightings()
        link = self._links[intercept.broker]
        if self._hears(intercept.broker):
            await self._confirmed(intercept.broker, link.intercept(number, intercept))
        elif not link.ended:
            link.send_intercept(number, intercept)  # a paused broker does it first when it is resumed
        return number

    async def release(self, number: int) -> None:
        self._released.add(number)
        broker = self._intercepts[number].broker
        link = self._links[broker]
        if self._hears(broker):
            await self._confirmed(broker, link.release(number))
        elif not link.ended:
            link.send_release(number)

    def interceptions(self, number: int) -> Sightings:
        """The requests that were intercepted, also those by processes that were killed since."""
        return self._interceptions[number]

    def _hears(self, broker: int) -> bool:
        """Whether it can confirm what it is asked for now."""
        process = self._processes[broker]
        return process.alive() and not process.is_stopped() and not self._links[broker].ended

    async def _confirmed(self, broker: int, command: Coroutine[Any, Any, None]) -> None:
        """Wait until a broker has carried out a command, or is killed or paused before: it does so when it is back.

        Raises BrokerFailed.
        """
        process, asked = self._processes[broker], asyncio.ensure_future(command)
        loop = asyncio.get_running_loop()
        try:
            while not asked.done():
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(loop.time() + LOOK_S):
                        await asyncio.shield(asked)
                if process.is_stopped():
                    break
        except BrokerFailed:
            if not process.killed:
                raise
        finally:
            asked.cancel()

    async def _applied(self, epoch: int) -> None:
        for broker in self._processes:
            if self._hears(broker) and not self._controller.holds(broker):
                await self._confirmed(broker, self._links[broker].applied(epoch))

    def _of(self, broker: int) -> list[int]:
        return [number for number, intercept in enumerate(self._intercepts) if intercept.broker == broker]

    def _fork(self, broker: int) -> None:
        ours, theirs = socket.socketpair()
        child = _forked(broker, theirs.fileno(), partitions(self._logs), self._logs, self._security)
        theirs.close()
        self._channels[broker] = ours
        self._processes[broker] = child
        self._watch(child.name, child.pid)
        child.ended.add_done_callback(lambda _: self._ended(child, broker))

    def _ended(self, child: ChildProcess, broker: int) -> None:
        if not child.killed and not self.died.done():
            self.died.set_result(describe_unexpected_exit(child, self._logs, log_name(broker)))

    async def _link(self, broker: int) -> None:
        link = await BrokerLink.from_socket(
            broker, self._channels[broker], self._interceptions, self._controller.create_topic, self._seen
        )
        self._controller.attach(link.push, broker)
        self._links[broker] = link

    async def _ready(self, broker: int) -> None:
        try:
            await self._links[broker].ready()
        except BrokerFailed as exc:
            raise BrokerFailed(f"{exc}; {self._logs.describe_tail(log_name(broker))}") from exc

    async def _await_stopped(self, broker: int, *, wanted: bool) -> None:
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + SIGNAL_LIMIT_S
        while self._processes[broker].is_stopped() is not wanted:
            if loop.time() > deadline_s or not self._processes[broker].alive():
                done = "stop" if wanted else "resume"
                raise BrokerFailed(f"broker {broker} did not {done} within {SIGNAL_LIMIT_S:g} s of the signal")
            await asyncio.sleep(0.001)


def describe_unexpected_exit(child: ChildProcess, logs: CellLogs, log: str) -> str:
    """How a process ended that should not have, with the end of its log."""
    return f"{child.name} {child.describe_exit()}; {logs.describe_tail(log)}"


def partitions(logs: CellLogs) -> Path:
    """The folder in which all brokers of the cell keep the partitions' logs."""
    return logs.temporary_folder("partitions")


def log_name(broker: int) -> str:
    return f"broker-{broker}.log"


def _forked(broker: int, channel: int, folder: Path, logs: CellLogs, security: BrokerSecurity) -> ChildProcess:
    def work() -> int:
        return run_broker(broker, listen=addresses.broker(broker), channel_fd=channel, logs=folder, security=security)

    nowhere = os.open(os.devnull, os.O_RDWR)
    log = logs.open_for_append(log_name(broker))
    try:
        return fork(f"broker {broker}", work, ChildFiles(stdin=nowhere, stdout=nowhere, stderr=log, kept=(channel,)))
    finally:
        os.close(nowhere)
        os.close(log)
