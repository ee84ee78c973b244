"""The brokers that a client knows: bootstrap addresses ("seeds"), dead ones among them, and registered ones.

Source: Shopify/sarama v1.27.2 client.go, IBM/sarama v1.60.1 client.go (private broker management helpers).

`lock` guards them, and all else that the client knows. It matters since LeastLoadedBroker waits for busy brokers while
it reads: a writer then waits for it, and later readers for the writer.
"""

import sys
from collections.abc import Sequence

from client.events import TraceKind
from client.golang import Dialer, GoMap, RWMutex, first_in_map, in_map_order
from client.metadata import Node
from client.profiles.sarama.broker import Broker
from client.profiles.sarama.config import Config
from client.runtime import ClientRuntime


class BrokerRegistry:
    """Made with the bootstrap addresses in random order."""

    def __init__(self, runtime: ClientRuntime, conf: Config, addrs: Sequence[tuple[str, int]]) -> None:
        self.closed = False
        self.lock = RWMutex()
        self._runtime = runtime
        self._conf = conf
        self._dialer = Dialer(runtime, keep_alive_s=conf.keep_alive_s)
        shuffled = runtime.rng.sample(list(addrs), len(addrs))
        self._seeds = [self._new_broker(host, port, -1) for host, port in shuffled]
        self._dead_seeds: list[Broker] = []
        self._registered: GoMap[int, Broker] = GoMap()

    def _new_broker(self, host: str, port: int, broker_id: int) -> Broker:
        return Broker(self._runtime, self._dialer, self._conf, host, port, broker_id)

    def registered(self, broker_id: int) -> Broker | None:
        return self._registered.get(broker_id)

    async def pick_broker(self) -> Broker | None:
        """A broker to ask for metadata, its connection being opened; None where none is left."""
        async with self.lock.reading:
            if self._conf.release.prefers_registered_brokers:
                broker = await self._least_loaded() or self._first_seed()
            else:
                broker = self._first_seed() or first_in_map(self._runtime.rng, self._registered)
            if broker is not None:
                await broker.open()
            return broker

    def _first_seed(self) -> Broker | None:
        return self._seeds[0] if self._seeds else None

    async def _least_loaded(self) -> Broker | None:
        """The registered broker with the fewest responses to come. Asking a broker waits for its lock."""
        chosen, fewest = None, sys.maxsize
        for _, broker in in_map_order(self._runtime.rng, self._registered):
            if fewest > await broker.response_size():
                fewest = await broker.response_size()  # upstream asks, and waits, twice
                chosen = broker
        return chosen

    async def deregister(self, broker: Broker) -> None:
        """The broker failed: the first seed becomes a dead one, a registered broker is forgotten."""
        async with self.lock.writing:
            self._deregister(broker)

    def _deregister(self, broker: Broker) -> None:
        if self._conf.release.prefers_registered_brokers and broker.id in self._registered:
            del self._registered[broker.id]
        elif broker is self._first_seed():
            self._dead_seeds.append(self._seeds.pop(0))
        else:
            self._registered.pop(broker.id, None)
        self._runtime.tracer.emit(
            TraceKind.STATE,
            purpose="broker",
            outcome="deregistered",
            broker=broker.id,
            address=f"{broker.host}:{broker.port}",
        )

    async def resurrect_dead_seeds(self) -> None:
        async with self.lock.writing:
            self._seeds += self._dead_seeds
            self._dead_seeds = []

    def update(self, nodes: Sequence[Node]) -> None:
        """Register, replace and forget brokers as a metadata answer says. The caller holds the write lock."""
        if self._conf.release.checks_sockets:
            self._check_sockets()
        for node in nodes:
            known = self._registered.get(node.id)
            if known is not None and known.addr == (node.host, node.port):
                continue
            if known is not None:
                self._safe_async_close(known)
            self._registered[node.id] = self._new_broker(node.host, node.port, node.id)
        current = {node.id for node in nodes}
        for broker_id in tuple(self._registered):
            if broker_id not in current:
                self._safe_async_close(self._registered.pop(broker_id))

    def _check_sockets(self) -> None:
        """checkBrokersHealth: close connections for which the kernel has an error; `update` replaces them."""
        for broker_id, broker in tuple(self._registered.items()):
            if broker.socket_is_broken():
                self._safe_async_close(broker)
                del self._registered[broker_id]
        for broker in (*self._seeds, *self._dead_seeds):
            if broker.socket_is_broken():
                self._safe_async_close(broker)

    def close(self) -> None:
        """Connections are closed in the background. The caller holds the write lock."""
        for broker in (*self._registered.values(), *self._seeds):
            self._safe_async_close(broker)
        self._registered.clear()
        self.closed = True

    def _safe_async_close(self, broker: Broker) -> None:
        async def close() -> None:
            if await broker.connected():
                await broker.close()

        self._runtime.tasks.go(close(), f"broker/{broker.id}/safeAsyncClose")
