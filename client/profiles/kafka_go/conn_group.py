"""The connections to one broker, or to the list of bootstrap addresses: idle ones are used again, others are dialled.

Source: segmentio/kafka-go v0.4.8 transport.go (connGroup, conn).

A list is shuffled, then dialled in turn, all of it under one deadline. Only a failed dial moves on to the next
address: a broker that accepts and fails at ApiVersions ends the walk.
"""

import asyncio
from collections.abc import Sequence

from client.errors import without_traceback
from client.golang import Channel, Receive, Send, select
from client.net.address import join_host_port
from client.net.connection import Connection
from client.net.errors import NetError
from client.profiles.kafka_go.bounded import Bounded, unbounded
from client.profiles.kafka_go.config import TransportConfig
from client.profiles.kafka_go.errors import GoError, from_context, from_net_error
from client.profiles.kafka_go.promise import ConnRequest
from client.profiles.kafka_go.protocol_conn import ProtocolConn
from client.profiles.kafka_go.resolver import lookup_host
from client.runtime import ClientRuntime

Address = tuple[str, int]


class Conn:
    """A connection that its group hands out to one request at a time."""

    def __init__(self, group: "ConnGroup", pc: ProtocolConn) -> None:
        self.requests: Channel[ConnRequest] = Channel()
        self.idle_timer: asyncio.TimerHandle | None = None
        self._group = group
        self._pc = pc
        self._closed = False

    def close(self) -> None:
        """Ends `run`, which closes the connection. Only an idle one is closed so."""
        if not self._closed:
            self._closed = True
            self.requests.close()

    def stop_idle_timer(self) -> None:
        if self.idle_timer is not None:
            self.idle_timer.cancel()
            self.idle_timer = None

    async def run(self) -> None:
        """Carry requests until one fails, or the group wants the connection no more."""
        why = None
        try:
            async for asked in self.requests:
                try:
                    response = await self._pc.round_trip(asked.bounded, asked.request)
                except GoError as error:
                    why = error.text
                    asked.result.settle(error)
                    break
                asked.result.settle(response)
                if not self._group.release_conn(self):
                    break
        finally:
            self._pc.close(why)


class ConnGroup:
    """`broker_id` is -1 for the bootstrap addresses, to which the control connection leads."""

    def __init__(
        self, runtime: ClientRuntime, conf: TransportConfig, addresses: Sequence[Address], broker_id: int
    ) -> None:
        self._runtime = runtime
        self._conf = conf
        self._addresses = tuple(addresses)
        self._broker_id = broker_id
        self._dialer = conf.net_dialer.dialer(runtime)
        self._idle: list[Conn] = []
        self._closed = False

    def close_idle_conns(self) -> None:
        """Close those that are idle now; one in use is closed when its request has ended."""
        conns, self._idle = self._idle, []
        self._closed = True
        for conn in conns:
            conn.stop_idle_timer()
            conn.close()

    async def grab_conn_or_connect(self, bounded: Bounded) -> Conn:
        """An idle connection, else a new one. Raises GoError: the dial's, or the context's when that is over first."""
        if self._idle:
            conn = self._idle.pop()
            conn.stop_idle_timer()
            return conn
        connected: Channel[Conn] = Channel()
        failed: Channel[GoError] = Channel()
        self._runtime.tasks.go(self._connect_for(bounded, connected, failed), f"connGroup/{self._broker_id}/connect")
        chosen = await select(
            self._runtime.rng,
            connected=Receive(connected),
            failed=Receive(failed),
            done=Receive(bounded.ctx.done),
        )
        if chosen.case == "connected":
            conn = chosen.value
            assert isinstance(conn, Conn)
            return conn
        if chosen.case == "failed":
            raise chosen.value
        assert bounded.ctx.error is not None
        raise from_context(bounded.ctx.error)

    async def _connect_for(self, bounded: Bounded, connected: Channel[Conn], failed: Channel[GoError]) -> None:
        """Connect on behalf of a request. A connection that comes too late for it becomes an idle one."""
        done, rng = Receive(bounded.ctx.done), self._runtime.rng
        try:
            conn = await self._connect(bounded)
        except GoError as error:
            await select(rng, failed=Send(failed, without_traceback(error)), done=done)
            return
        chosen = await select(rng, connected=Send(connected, conn), done=done)
        if chosen.case == "done" and not self.release_conn(conn):
            conn.close()

    def release_conn(self, conn: Conn) -> bool:
        """Keep a connection for the next request; False where the group is closed."""
        if self._closed:
            return False
        conn.stop_idle_timer()
        conn.idle_timer = asyncio.get_running_loop().call_later(self._conf.idle_timeout_s, self._on_idle, conn)
        self._idle.append(conn)
        return True

    def _on_idle(self, conn: Conn) -> None:
        if conn in self._idle:
            self._idle.remove(conn)
            conn.close()

    async def _connect(self, parent: Bounded) -> Conn:
        """Raises GoError: that of the last address, where no dial succeeded."""
        bounded = parent.within(self._conf.dial_timeout)
        addresses = list(self._addresses)
        if len(addresses) > 1:
            self._runtime.rng.shuffle(addresses)
        # The connection gets this deadline, not the request's: what ends that one before does not reach it.
        negotiation = unbounded().within(self._conf.dial_timeout)
        with bounded.ctx, negotiation.ctx:
            connection = await self._dial_in_turn(addresses, bounded)
            pc = ProtocolConn(connection, self._conf.client_id)
            try:
                await pc.negotiate(negotiation, self._conf.release, self._name())
            except GoError as error:
                pc.close(error.text)
                raise
            except asyncio.CancelledError:
                pc.close()
                raise
        conn = Conn(self, pc)
        self._runtime.tasks.go(conn.run(), f"connGroup/{self._broker_id}/conn")
        return conn

    async def _dial_in_turn(self, addresses: Sequence[Address], bounded: Bounded) -> Connection:
        failed: GoError | None = None
        try:
            for host, port in addresses:
                try:
                    return await self._dial(host, port, bounded)
                except GoError as error:
                    failed = without_traceback(error)
            assert failed is not None, "a Writer without addresses is refused before"
            raise failed
        finally:
            failed = None  # or the error and this frame, which is in its traceback, hold each other

    async def _dial(self, host: str, port: int, bounded: Bounded) -> Connection:
        """One dial, within the shorter of its own limit and what is left of the walk's. Raises GoError.

        Upstream's ends at once where the pool is closed meanwhile; this one ends by itself, and no one waits for it.
        """
        limit = self._conf.net_dialer.within(bounded.limit())
        if self._conf.resolver:
            address = join_host_port(host, port)
            host, port = await lookup_host(
                address,
                self._conf.resolver,
                self._runtime.resolver,
                self._conf.release,
                deadline_at=bounded.ctx.deadline_at,
            )
        try:
            return await self._dialer.dial(host, port, broker=self._broker_id, limit=limit)
        except NetError as error:
            raise from_net_error(error) from error

    def _name(self) -> str:
        return ",".join(join_host_port(host, port) for host, port in self._addresses)
