"""The Dialer: connections to an address, or to the leader of a partition.

Source: segmentio/kafka-go v0.4.8, v0.4.9 and v0.4.50 dialer.go.

Timeout and Deadline limit one `connect` each time, and nothing behind it: a look-up ends with the caller's context
alone. So does the wait between two requests of a look-up, which goes on for as long as the partition is unknown. They
limit a TLS handshake, too, but no SASL exchange: that has no limit at all, not even the caller's.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from typing import TypeVar

from client.errors import SettingError, without_traceback
from client.golang import Channel, Receive, Timer, TlsRecords, select
from client.golang.context import DEADLINE_EXCEEDED
from client.limit import Limit
from client.net.address import join_host_port
from client.net.connection import Connection
from client.net.errors import Cause, NetError
from client.profiles.kafka_go.bounded import Bounded
from client.profiles.kafka_go.config import DialerConfig
from client.profiles.kafka_go.conn import Broker, Conn, ConnConfig, Partition
from client.profiles.kafka_go.errors import GoError, from_conn, from_context, from_net_error
from client.profiles.kafka_go.resolver import lookup_host
from client.runtime import ClientRuntime
from client.security.plain import encode_plain
from client.security.scram import DIGESTS, ScramClient, ScramError
from client.security.tls import client_context
from client.wire.errors import SASL_AUTHENTICATION_FAILED

T = TypeVar("T")

_BACKOFF_MIN_S, _BACKOFF_MAX_S = 0.1, 10.0
_BOOTSTRAP = -1


def backoff_s(attempt: int) -> float:
    """The pause before this attempt of a look-up, counted from 0."""
    return min(attempt * attempt * _BACKOFF_MIN_S, _BACKOFF_MAX_S)


class Dialer:
    """Methods may be called by several tasks at once. All of them raise GoError.

    Raises SettingError for a mechanism of SASL without credentials.
    """

    def __init__(self, runtime: ClientRuntime, conf: DialerConfig) -> None:
        if conf.sasl_mechanism is not None and runtime.credentials is None:
            text = "Dialer.SASLMechanism needs a user and a password: the launch record has no sasl"
            raise SettingError("Dialer.SASLMechanism", text)
        self._runtime = runtime
        self._conf = conf
        # A program's own function can say when it dials; what a Dialer does by itself only the wire shows.
        self._net_dialer = (
            conf.own.dialer(runtime)
            if conf.own is not None
            else conf.net_dialer.dialer(runtime, traced_from_connect=True)
        )

    async def dial_context(self, bounded: Bounded, address: str) -> Conn:
        return await self._connect(bounded, address, self._conn_config())

    async def dial_leader(self, bounded: Bounded, address: str, topic: str, partition: int) -> Conn:
        """A look-up and a dial, each with a Timeout of its own."""
        found = await self.lookup_partition(bounded, address, topic, partition)
        return await self.dial_partition(bounded, found)

    async def dial_partition(self, bounded: Bounded, partition: Partition) -> Conn:
        """To whom the description names as the leader; of a partition without one, that is port 0 of this host."""
        conf = self._conn_config(partition.topic, partition.partition, partition.leader.broker_id)
        return await self._connect(bounded, partition.leader.address, conf)

    async def lookup_leader(self, bounded: Bounded, address: str, topic: str, partition: int) -> Broker:
        return (await self.lookup_partition(bounded, address, topic, partition)).leader

    async def lookup_partition(self, bounded: Bounded, address: str, topic: str, partition: int) -> Partition:
        """Asked again after temporary errors, and as long as the answer does not have the partition."""
        conn = await self.dial_context(bounded, address)
        found: Channel[Partition] = Channel(1)
        failed: Channel[GoError] = Channel(1)
        try:
            searching = self._search(conn, bounded, topic, partition, found, failed)
            self._runtime.tasks.go(searching, "dialer/lookupPartition")
            return await self._first(bounded, found, failed)
        finally:
            conn.close()

    async def lookup_partitions(self, bounded: Bounded, address: str, topic: str) -> tuple[Partition, ...]:
        """Asked once, whatever the answer is."""
        conn = await self.dial_context(bounded, address)
        found: Channel[tuple[Partition, ...]] = Channel(1)
        failed: Channel[GoError] = Channel(1)

        async def read() -> None:
            try:
                found.try_send(await conn.read_partitions(topic))
            except GoError as error:
                failed.try_send(without_traceback(error))

        try:
            self._runtime.tasks.go(read(), "dialer/lookupPartitions")
            return await self._first(bounded, found, failed)
        finally:
            conn.close()

    async def _search(
        self,
        conn: Conn,
        bounded: Bounded,
        topic: str,
        partition: int,
        found: Channel[Partition],
        failed: Channel[GoError],
    ) -> None:
        attempt = 0
        while True:
            if attempt != 0 and not await self._sleep(bounded, backoff_s(attempt)):
                assert bounded.ctx.error is not None
                failed.try_send(from_context(bounded.ctx.error))
                return
            attempt += 1
            try:
                partitions = await conn.read_partitions(topic)
            except GoError as error:
                if error.nature.temporary:
                    continue
                failed.try_send(without_traceback(error))
                return
            for one in partitions:
                if one.partition == partition:
                    found.try_send(one)
                    return

    async def _first(self, bounded: Bounded, found: Channel[T], failed: Channel[GoError]) -> T:
        """What comes first: the answer, an error, or the context's end."""
        chosen = await select(
            self._runtime.rng, found=Receive(found), failed=Receive(failed), done=Receive(bounded.ctx.done)
        )
        if chosen.case == "found":
            value: T = chosen.value
            return value
        if chosen.case == "failed":
            raise chosen.value
        assert bounded.ctx.error is not None
        raise from_context(bounded.ctx.error)

    async def _sleep(self, bounded: Bounded, pause_s: float) -> bool:
        """False where the context ended before."""
        wait = self._runtime.tracer.wait(Limit(pause_s), "pause before the next look-up")
        timer, outcome = Timer(pause_s), "failed"
        try:
            chosen = await select(self._runtime.rng, timer=Receive(timer.channel), done=Receive(bounded.ctx.done))
            outcome = "elapsed" if chosen.case == "timer" else "failed"
            return chosen.case == "timer"
        finally:
            timer.stop()
            wait.end(outcome)

    async def _connect(self, bounded: Bounded, address: str, conf: ConnConfig) -> Conn:
        try:
            with self._limited(bounded) as inner:
                connection = await self._dial_context(inner, address, conf.broker)
        except GoError as error:
            raise (error.wrap("failed to dial") if self._conf.release.wraps_dial_errors else error) from error
        conn = Conn(connection, conf, self._conf.release)
        if self._conf.sasl_mechanism is not None:
            await self._authenticated(conn, address, self._conf.sasl_mechanism)
        return conn

    async def _authenticated(self, conn: Conn, address: str, mechanism: str) -> None:
        try:
            await self._authenticate_sasl(conn, mechanism)
        except GoError as error:
            conn.close(error.text)
            if not self._conf.release.wraps_dial_errors:
                raise
            raise error.wrap(f"could not successfully authenticate to {address} with SASL") from error
        except BaseException:
            conn.close()
            raise

    async def _authenticate_sasl(self, conn: Conn, mechanism: str) -> None:
        wraps = self._conf.release.wraps_dial_errors
        try:
            await conn.sasl_handshake(mechanism)
        except GoError as error:
            raise (error.wrap("SASL handshake failed") if wraps else error) from error
        credentials = self._runtime.credentials
        assert credentials is not None, "checked when the Dialer was made"
        try:
            if mechanism not in DIGESTS:
                await conn.sasl_authenticate(encode_plain(credentials))
                return
            client = ScramClient(mechanism, credentials, nonce=token_urlsafe(24))
            message = client.step(b"")
            while not client.done:
                message = client.step(await conn.sasl_authenticate(message))
        except ScramError as wrong:
            failed = GoError("errors.errorString", str(wrong))
            raise (failed.wrap("SASL authentication process has failed") if wraps else failed) from wrong
        except GoError as error:
            if error.name == "io.EOF":
                raise self._conf.release.errors.kerror(SASL_AUTHENTICATION_FAILED) from error
            raise

    @contextmanager
    def _limited(self, bounded: Bounded) -> Iterator[Bounded]:
        """Within the caller's deadline, the Timeout and the Deadline, whichever comes first."""
        timeout_s, deadline_at = self._conf.timeout_s, self._conf.deadline_at
        limits = [] if timeout_s == 0 else [Limit(timeout_s, ("Dialer.Timeout",))]
        if deadline_at is not None:
            limits.append(Limit(deadline_at - asyncio.get_running_loop().time(), ("Dialer.Deadline",)))
        inner = bounded
        derived = [inner := inner.within(limit) for limit in limits]
        try:
            yield inner
        finally:
            for one in derived:
                one.ctx.cancel()

    async def _dial_context(self, bounded: Bounded, address: str, broker: int) -> Connection:
        conf = self._conf
        try:
            host, port = await lookup_host(
                address, conf.resolver, self._runtime.resolver, conf.release, deadline_at=bounded.ctx.deadline_at
            )
        except GoError as error:
            raise (error.wrap("failed to resolve host") if conf.release.wraps_dial_errors else error) from error
        limit = bounded.limit() if conf.own is None else conf.own.within(bounded.limit())
        try:
            connection = await self._net_dialer.dial(host, port, broker=broker, limit=limit)
        except NetError as failed:
            wrapped = from_net_error(failed)
            if conf.release.wraps_dial_errors:
                wrapped = wrapped.wrap(f"failed to open connection to {join_host_port(host, port)}")
            raise wrapped from failed
        if conf.tls:
            await self._connect_tls(bounded, connection, host)
        return connection

    async def _connect_tls(self, bounded: Bounded, connection: Connection, server_name: str) -> None:
        """The handshake, within the context. The certificate has to be for what was dialled."""
        connection.use_tls(client_context(self._runtime.ca_pem), server_name=server_name, records=TlsRecords().cut)
        try:
            await connection.handshake(read=bounded.limit(), write=Limit())
        except NetError as failed:
            connection.close(str(failed))
            if failed.cause is Cause.TIMEOUT:
                raise from_context(DEADLINE_EXCEEDED) from failed
            raise from_conn(failed) from failed
        except BaseException:
            connection.close()
            raise

    def _conn_config(self, topic: str = "", partition: int = 0, broker: int = _BOOTSTRAP) -> ConnConfig:
        return ConnConfig(
            client_id=self._conf.client_id,
            transactional_id=self._conf.transactional_id,
            topic=topic,
            partition=partition,
            broker=broker,
        )
