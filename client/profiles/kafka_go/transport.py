"""The Transport: a pool of connections for each list of addresses. Source: segmentio/kafka-go v0.4.8 transport.go."""

from collections.abc import Hashable, Sequence
from typing import Any

from client.profiles.kafka_go.bounded import Bounded
from client.profiles.kafka_go.config import TransportConfig
from client.profiles.kafka_go.conn_group import Address
from client.profiles.kafka_go.conn_pool import ConnPool
from client.runtime import ClientRuntime


class Transport:
    """Writers and Clients may share one."""

    def __init__(self, runtime: ClientRuntime, conf: TransportConfig) -> None:
        self.conf = conf
        self._runtime = runtime
        self._pools: dict[tuple[Address, ...], ConnPool] = {}

    async def round_trip(self, bounded: Bounded, addresses: Sequence[Address], request: Hashable) -> Any:
        """The response's body, None where none is due. Raises GoError."""
        pool = self._grab_pool(tuple(addresses))
        try:
            return await pool.round_trip(bounded, request)
        finally:
            pool.unref()

    def leader_of(self, addresses: Sequence[Address], topic: str, partition: int) -> int:
        """The leader that the cached metadata names, -1 where it names none."""
        pool = self._pools.get(tuple(addresses))
        return -1 if pool is None else pool.state.layout.leaders.get(topic, {}).get(partition, -1)

    def close_idle_connections(self) -> None:
        """Forget every pool: idle connections are closed now, others after their request."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.unref()

    def _grab_pool(self, addresses: tuple[Address, ...]) -> ConnPool:
        pool = self._pools.get(addresses)
        if pool is not None:
            pool.ref()
            return pool
        pool = self._pools[addresses] = ConnPool(self._runtime, self.conf, addresses)
        pool.start()
        return pool
