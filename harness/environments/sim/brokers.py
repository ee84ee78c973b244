"""The cluster of a simulation: a controller, and each broker on a host of its own, which can be killed and revived."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.intercepts import Intercepts
from harness.brokers.embedded.log import MemoryLogs
from harness.brokers.embedded.sessions import Sessions
from harness.brokers.security import security_of
from harness.brokers.stored import decode_log
from harness.cluster_view import ClusterView
from harness.environments.sim.host_logs import append_to_file
from harness.environments.sim.hosts import Host, HostState
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.segment import Address
from harness.levers import ClusterChange, HeldBack, Intercept
from harness.plan import ClusterShape
from harness.sightings import Sightings
from harness.story import StoredRecord


class SimBrokers:
    """`harness.brokers.cluster.BrokerCluster` of embedded brokers on simulated hosts. A broker's intercepts outlive its
    host."""

    def __init__(
        self,
        loop: SimLoop,
        cluster: ClusterShape,
        *,
        advertised_address: Callable[[int], Address],
        listen_address: Callable[[int], Address],
        logs: Path | None,
    ) -> None:
        """Raises ClusterStateError for a cluster that cannot be."""
        self._loop = loop
        self._listen_address = listen_address
        self._logs = logs
        self._controller = Controller(cluster, advertised_address, now_ns=lambda: round(loop.now * 1e9))
        self._partitions = MemoryLogs()
        self._hosts: dict[int, Host] = {}
        self._brokers: dict[int, EmbeddedBroker] = {}
        self._intercepts = {broker: Intercepts(self._intercepted) for broker in cluster.broker_ids}
        self._sessions = Sessions(self._controller)
        self._security = security_of(cluster, (advertised_address(broker)[0] for broker in cluster.broker_ids))
        self._installed: list[Intercept] = []
        self._released: set[int] = set()
        self._interceptions: list[Sightings] = []

    @property
    def brokers(self) -> Iterable[int]:
        return self._intercepts

    async def ready(self) -> None:
        for broker in self._intercepts:
            await self.revive(broker)

    def state(self) -> ClusterView:
        return self._controller.view()

    def running(self, broker: int) -> bool:
        return self._hosts[broker].state is not HostState.KILLED

    async def hand_over(self, broker: int) -> None:
        self._sessions.lose(broker, 0.0)

    async def kill(self, broker: int, *, election_s: float) -> None:
        self._sessions.lose(broker, election_s)
        self._controller.detach(self._brokers[broker].apply)
        self._hosts[broker].kill()

    async def revive(self, broker: int) -> None:
        host = self._hosts[broker] = self._loop.new_host(f"broker-{broker}")
        if self._logs is not None:
            host.stderr = append_to_file(self._logs / f"{host.name}.log")
        made = EmbeddedBroker(
            broker,
            self._controller.state,
            self._partitions,
            self._intercepts[broker],
            self._controller.create_topic,
            self._security,
        )
        self._brokers[broker] = made
        await host.spawn(made.start(*self._listen_address(broker)), name="listen")
        self._controller.attach(made.apply, broker)
        self._sessions.regain(broker, restarted=True)

    async def pause(self, broker: int, *, election_s: float) -> None:
        self._hosts[broker].pause()
        self._sessions.lose(broker, election_s)

    async def resume(self, broker: int) -> None:
        self._hosts[broker].resume()
        self._sessions.regain(broker, restarted=False)

    def held(self, broker: int) -> int:
        holding = [
            n for n, one in enumerate(self._installed) if one.broker == broker and isinstance(one.answer, HeldBack)
        ]
        return sum(self._interceptions[number].total for number in holding if number not in self._released)

    async def unread(self, broker: int) -> int:
        address = self._listen_address(broker)
        return sum(
            socket.local == address and socket.receiver.unread > 0 for socket in self._loop.network.sockets.values()
        )

    async def change(self, change: ClusterChange) -> bool:
        earlier = self._controller.state
        return self._controller.change(change).differs_from(earlier)

    async def undo(self, change: ClusterChange) -> None:
        self._controller.undo(change)

    def hold(self, broker: int) -> None:
        self._controller.hold(broker)

    async def release_state(self, broker: int) -> None:
        self._controller.release(broker)

    def changed_ns(self) -> tuple[int, ...]:
        return tuple(self._controller.changed_ns)

    async def read_log(self, topic: str, partition: int) -> tuple[StoredRecord, ...]:
        return decode_log(self._partitions.of(topic, partition).read(0, max_bytes=sys.maxsize, at_least_one=True))

    async def intercept(self, intercept: Intercept) -> int:
        number = len(self._installed)
        self._installed.append(intercept)
        self._interceptions.append(Sightings())
        self._intercepts[intercept.broker].add(number, intercept)
        return number

    async def release(self, number: int) -> None:
        self._released.add(number)
        self._intercepts[self._installed[number].broker].release(number)

    def interceptions(self, number: int) -> Sightings:
        return self._interceptions[number]

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        self._sessions.dispose()
        self._controller.dispose()
        self._brokers.clear()
        self._intercepts.clear()

    def _intercepted(self, number: int, at_ns: int | None) -> None:
        self._interceptions[number].add(at_ns)
