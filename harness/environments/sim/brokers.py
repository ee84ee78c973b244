"""The cluster of a simulation: a controller, and each broker on a host of its own, which can be killed and revived."""

from collections.abc import Callable
from pathlib import Path

from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.intercepts import Intercepts
from harness.brokers.embedded.log import MemoryLogs
from harness.environments.sim.host_logs import append_to_file
from harness.environments.sim.hosts import Host, HostState
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.segment import Address
from harness.levers import Intercept
from harness.plan import ClusterShape
from harness.sightings import Sightings


class SimBrokers:
    """`harness.environments.broker_signals.BrokerProcesses` of simulated hosts. A broker's intercepts outlive its
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
        """Raises StateError for a cluster that cannot be."""
        self._loop = loop
        self._listen_address = listen_address
        self._logs = logs
        self._controller = Controller(cluster, advertised_address)
        self.partitions = MemoryLogs()
        self._hosts: dict[int, Host] = {}
        self._brokers: dict[int, EmbeddedBroker] = {}
        self._intercepts = {broker: Intercepts(self._intercepted) for broker in cluster.broker_ids}
        self._interceptions: list[Sightings] = []

    async def start(self) -> None:
        """On return all of them listen."""
        for broker in self._intercepts:
            await self.revive(broker)

    def running(self, broker: int) -> bool:
        return self._hosts[broker].state is not HostState.KILLED

    async def kill(self, broker: int) -> None:
        self._controller.detach(self._brokers[broker].apply)
        self._hosts[broker].kill()

    async def revive(self, broker: int) -> None:
        host = self._hosts[broker] = self._loop.new_host(f"broker-{broker}")
        if self._logs is not None:
            host.stderr = append_to_file(self._logs / f"{host.name}.log")
        made = EmbeddedBroker(broker, self._controller.state, self.partitions, self._intercepts[broker])
        self._brokers[broker] = made
        await host.spawn(made.start(*self._listen_address(broker)), name="listen")
        self._controller.attach(made.apply)

    async def pause(self, broker: int) -> None:
        self._hosts[broker].pause()

    async def resume(self, broker: int) -> None:
        self._hosts[broker].resume()

    async def unread(self, broker: int) -> int:
        address = self._listen_address(broker)
        return sum(
            socket.local == address and socket.receiver.unread > 0 for socket in self._loop.network.sockets.values()
        )

    def intercept(self, intercept: Intercept) -> int:
        """Have a broker's requests intercepted; the number is what `release` and `interceptions` take."""
        self._interceptions.append(Sightings())
        number = len(self._interceptions) - 1
        self._intercepts[intercept.broker].add(number, intercept)
        return number

    def release(self, intercept: Intercept, number: int) -> None:
        self._intercepts[intercept.broker].release(number)

    def interceptions(self, number: int) -> Sightings:
        return self._interceptions[number]

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        self._controller.dispose()
        self._brokers.clear()
        self._intercepts.clear()

    def _intercepted(self, number: int, at_ns: int | None) -> None:
        self._interceptions[number].add(at_ns)
