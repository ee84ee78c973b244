"""Opening connections, with a limit on the whole of it. Errors come sorted by phase: resolve, connect.

Several addresses of one name are tried one after the other, each with its share of the time that is left.
Source: Go's net/dial.go (dialSerial, partialDeadline).
"""

import asyncio
import encodings.idna  # noqa: F401 - asyncio loads it at its first dial, which would be timed
import socket
from typing import cast

from client.events import TraceKind
from client.net.connection import Connection, Limit
from client.net.errors import Cause, NetError, Phase, from_os_error
from client.net.stream import Stream
from client.runtime import ClientRuntime

_SANE_MINIMUM_S = 2.0
"""An address gets at least this much of what is left, where so much is left."""


class Dialer:
    """Opens connections. `keep_alive_s` is the idle time and interval of TCP keep-alives, None: none are sent."""

    def __init__(self, runtime: ClientRuntime, *, keep_alive_s: float | None = None) -> None:
        self._runtime = runtime
        self._keep_alive_s = keep_alive_s

    async def dial(self, host: str, port: int, *, broker: int, limit: Limit) -> Connection:
        """Connect within the limit. Traces the dial and the wait. Raises NetError in phase RESOLVE or CONNECT."""
        tracer = self._runtime.tracer
        number = next(self._runtime.connections)
        address = join_host_port(host, port)
        tracer.emit(TraceKind.DIAL_STARTED, connection=number, broker=broker, address=address)
        wait = tracer.wait(limit.setting, limit.seconds, "dial", connection=number, broker=broker, address=address)
        outcome, error_text = "failed", None
        try:
            stream = await self._connect(host, port, limit.seconds)
            outcome = "connected"
        except NetError as error:
            outcome = _OUTCOMES.get(error.cause, "failed")
            error_text = str(error)
            raise
        finally:
            wait.end(_WAIT_OUTCOMES.get(outcome, "failed"))
            why = {} if error_text is None else {"error": error_text}
            tracer.emit(TraceKind.DIAL_ENDED, connection=number, broker=broker, address=address, outcome=outcome, **why)
        return Connection(stream, tracer, number, broker)

    async def _connect(self, host: str, port: int, limit_s: float) -> Stream:
        loop = asyncio.get_running_loop()
        deadline_at = loop.time() + limit_s
        addresses = await self._runtime.resolver.resolve(host)
        first_error: NetError | None = None
        try:
            for index, ip in enumerate(addresses):
                left_s = deadline_at - loop.time()
                remote = join_host_port(ip, port)
                if left_s <= 0:
                    raise first_error or NetError(Phase.CONNECT, Cause.TIMEOUT, remote)
                share_s = max(left_s / (len(addresses) - index), min(left_s, _SANE_MINIMUM_S))
                try:
                    return await self._connect_to(ip, port, remote, loop.time() + share_s)
                except NetError as error:
                    first_error = first_error or error
            assert first_error is not None, "a resolver returned no address"
            raise first_error
        finally:
            first_error = None  # or the error and this frame, which is in its traceback, hold each other

    async def _connect_to(self, ip: str, port: int, remote: str, deadline_at: float) -> Stream:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(deadline_at):
                transport, stream = await loop.create_connection(lambda: Stream(remote), ip, port)
        except OSError as error:
            if isinstance(error, TimeoutError) and error.errno is None:
                raise NetError(Phase.CONNECT, Cause.TIMEOUT, remote) from error
            raise from_os_error(Phase.CONNECT, error, remote) from error
        _keep_alive(transport, self._keep_alive_s)
        return stream


_OUTCOMES = {Cause.TIMEOUT: "timeout", Cause.TIMED_OUT_BY_KERNEL: "timeout", Cause.REFUSED: "refused"}
_WAIT_OUTCOMES = {"connected": "satisfied", "timeout": "elapsed"}


def _keep_alive(transport: asyncio.BaseTransport, interval_s: float | None) -> None:
    """Simulated connections have no socket object, and no keep-alives."""
    found = transport.get_extra_info("socket")
    if found is None or interval_s is None:
        return
    tcp = cast(socket.socket, found)
    seconds = max(1, round(interval_s))
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds)
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, seconds)


def join_host_port(host: str, port: int) -> str:
    """`127.0.2.1:9092`, `[::1]:9092`. Source: Go's net.JoinHostPort."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_host_port(address: str) -> tuple[str, int]:
    """The inverse. Raises ValueError saying what is wrong with the address."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise ValueError(f"{address}: missing port in address")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{address}: {port or 'nothing'} is no port")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{address}: too many colons in address")
    if not host:
        raise ValueError(f"{address}: missing host in address")
    return host, int(port)
