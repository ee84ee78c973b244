"""The program around a Dialer: what it keeps of look-ups and connections, and how it sends over one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from client.net.address import join_host_port
from client.operations import (
    CLOSE,
    CONNECT,
    DIAL,
    DIAL_LEADER,
    DIAL_PARTITION,
    LOOKUP_LEADER,
    LOOKUP_PARTITION,
    LOOKUP_PARTITIONS,
    SEND,
    Close,
    CommandError,
    Connect,
    Context,
    Dial,
    Handler,
    Handles,
    OfPartition,
    OfTopic,
    Operation,
    Result,
    Send,
)
from client.profiles.kafka_go.bounded import Bounded, calling
from client.profiles.kafka_go.config import build_dialer_config
from client.profiles.kafka_go.conn import Broker, Conn, Partition
from client.profiles.kafka_go.conn_group import Address
from client.profiles.kafka_go.dialer import Dialer
from client.profiles.kafka_go.errors import GoError
from client.runtime import ClientRuntime
from client.settings import Settings

_Asked = TypeVar("_Asked", Dial, OfPartition, OfTopic, Send)


class Dialing:
    """What a handle stands for. Connections stay open until it is closed; the last one to a partition's leader carries
    the messages for it, and a message without one dials it first."""

    def __init__(self, dialer: Dialer, bootstrap: Sequence[Address]) -> None:
        self._dialer = dialer
        self._bootstrap = bootstrap
        self._looked_up: dict[tuple[str, int], Partition] = {}
        self._leaders: dict[tuple[str, int], Conn] = {}
        self._others: list[Conn] = []

    async def close(self) -> None:
        conns = [*self._others, *self._leaders.values()]
        self._others.clear()
        self._leaders.clear()
        for conn in conns:
            conn.close()

    async def dial(self, bounded: Bounded, asked: Dial) -> Result:
        conn = await self._dialer.dial_context(bounded, self._address(asked.address))
        self._others.append(conn)
        return {"address": conn.remote_address}

    async def dial_leader(self, bounded: Bounded, asked: OfPartition) -> Result:
        conn = await self._dialer.dial_leader(bounded, self._address(asked.address), asked.topic, asked.partition)
        return self._keep(conn)

    async def dial_partition(self, bounded: Bounded, asked: OfPartition) -> Result:
        known = self._looked_up.get((asked.topic, asked.partition))
        if known is None:
            raise CommandError(f"{asked.topic}/{asked.partition} has not been looked up before")
        return self._keep(await self._dialer.dial_partition(bounded, known))

    async def lookup_partition(self, bounded: Bounded, asked: OfPartition) -> Result:
        address = self._address(asked.address)
        found = await self._dialer.lookup_partition(bounded, address, asked.topic, asked.partition)
        self._looked_up[found.topic, found.partition] = found
        return _leader(found.leader)

    async def lookup_leader(self, bounded: Bounded, asked: OfPartition) -> Result:
        address = self._address(asked.address)
        return _leader(await self._dialer.lookup_leader(bounded, address, asked.topic, asked.partition))

    async def lookup_partitions(self, bounded: Bounded, asked: OfTopic) -> Result:
        found = await self._dialer.lookup_partitions(bounded, self._address(asked.address), asked.topic)
        self._looked_up |= {(one.topic, one.partition): one for one in found}
        leaders = sorted((one.partition, one.leader.broker_id) for one in found)
        return {"leaders": " ".join(f"{partition}:{leader}" for partition, leader in leaders)}

    async def send(self, bounded: Bounded, asked: Send) -> Result:
        """DialLeader where there is no connection yet, then WriteMessages. An error ends the connection."""
        key = asked.topic, asked.partition or 0
        if key not in self._leaders:
            self._keep(await self._dialer.dial_leader(bounded, self._address(None), *key))
        conn = self._leaders[key]
        conn.set_write_deadline(bounded.ctx.deadline_at)
        try:
            partition, offset = await conn.write_message(asked.key, asked.value)
        except GoError:
            self._leaders.pop(key, None)
            conn.close()
            raise
        return {"partition": partition, "offset": offset}

    def _keep(self, conn: Conn) -> Result:
        key = conn.conf.topic, conn.conf.partition
        if key in self._leaders:
            self._others.append(self._leaders[key])
        self._leaders[key] = conn
        return {"address": conn.remote_address}

    def _address(self, address: str | None) -> str:
        if address is not None:
            return address
        if not self._bootstrap:
            raise CommandError("there is no bootstrap address to dial")
        return join_host_port(*self._bootstrap[0])


def _leader(broker: Broker) -> Result:
    return {"leader": broker.broker_id, "address": broker.address}


class DialerSession:
    """`client.profiles.contract.ProfileSession`."""

    def __init__(self, runtime: ClientRuntime, settings: Settings, bootstrap: Sequence[Address]) -> None:
        self.handles: Handles[Dialing] = Handles("producer")
        self._runtime = runtime
        self._settings = settings
        self._bootstrap = tuple(bootstrap)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        # Made anew: kept, they and the session would hold each other.
        return {
            CONNECT.name: CONNECT.handler(self._connect),
            DIAL.name: self._handler(DIAL, Dialing.dial),
            DIAL_LEADER.name: self._handler(DIAL_LEADER, Dialing.dial_leader),
            DIAL_PARTITION.name: self._handler(DIAL_PARTITION, Dialing.dial_partition),
            LOOKUP_LEADER.name: self._handler(LOOKUP_LEADER, Dialing.lookup_leader),
            LOOKUP_PARTITION.name: self._handler(LOOKUP_PARTITION, Dialing.lookup_partition),
            LOOKUP_PARTITIONS.name: self._handler(LOOKUP_PARTITIONS, Dialing.lookup_partitions),
            SEND.name: self._handler(SEND, Dialing.send),
            CLOSE.name: CLOSE.handler(self._close),
        }

    def _handler(
        self, operation: Operation[_Asked], carry_out: Callable[[Dialing, Bounded, _Asked], Awaitable[Result]]
    ) -> Handler:
        """A call on the handle that it names, with the caller's context."""

        async def handle(asked: _Asked, context: Context) -> Result:
            with calling(context) as bounded:
                return await carry_out(self.handles[asked.handle], bounded, asked)

        return operation.handler(handle)

    async def _connect(self, arguments: Connect, _: Context) -> Result:
        async def new_dialer() -> Dialing:
            return Dialing(Dialer(self._runtime, build_dialer_config(self._settings)), self._bootstrap)

        await self.handles.open(arguments.handle, new_dialer)
        return {}

    async def _close(self, arguments: Close, _: Context) -> Result:
        await self.handles.close(arguments.handle)
        return {}
