"""create_connection and create_server on the simulated network."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from errno import EADDRNOTAVAIL, EINVAL
from typing import TYPE_CHECKING, Any

from harness.environments.name_server import LOOPBACK_IPV6
from harness.environments.sim.network import CLIENT_ADDRESS
from harness.environments.sim.segment import Address
from harness.environments.sim.socket import TcpSocket
from harness.environments.sim.transport import SimTransport, validated_address

if TYPE_CHECKING:
    from harness.environments.sim.listener import Listener
    from harness.environments.sim.loop import SimLoop

_LOOPBACK = "127."
"""How every address begins that a process may bind to: there is no other interface."""

ProtocolFactory = Callable[[], asyncio.BaseProtocol]

_IGNORED = {"family", "proto", "flags", "reuse_address", "reuse_port", "keep_alive", "start_serving"}
"""Options that make no difference on a network that has one kind of address and no left-over sockets."""


def _reject_unsupported(options: dict[str, Any], known: Iterable[str] = ()) -> None:
    for name, value in options.items():
        if value not in (None, False) and name not in _IGNORED and name not in known:
            raise ValueError(f"virtual time: there is no {name}= here")


class _Dial:
    """Owner of a socket until it is connected."""

    def __init__(self, waiter: asyncio.Future[None]) -> None:
        self._waiter = waiter

    def connected(self, error: OSError | None) -> None:
        if self._waiter.done():
            return
        if error is None:
            self._waiter.set_result(None)
        else:
            self._waiter.set_exception(error)

    def read_ready(self) -> None:
        raise AssertionError("a socket that is not connected is not read")

    write_ready = read_ready


async def connect(
    loop: SimLoop, protocol_factory: ProtocolFactory, host: Any, port: Any, *, local_addr: Any = None, **options: Any
) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
    """Dial. Cancelling it closes the socket, as asyncio does."""
    _reject_unsupported(options)
    remote = validated_address(host, port)
    local_host, local_port = local_addr or (LOOPBACK_IPV6 if ":" in remote[0] else CLIENT_ADDRESS, 0)
    if not local_host.startswith((_LOOPBACK, LOOPBACK_IPV6)):
        raise OSError(EADDRNOTAVAIL, f"error while attempting to bind on address {local_addr!r}")
    waiter: asyncio.Future[None] = loop.create_future()
    local = local_host, local_port or loop.network.new_port()
    socket = TcpSocket.connect(loop.network, local, remote, _Dial(waiter))
    try:
        await waiter
        protocol = protocol_factory()
        transport = SimTransport(loop, socket, protocol)
    except BaseException:
        socket.close()
        del waiter  # or its error and this frame, which is in its traceback, hold each other
        raise
    made: asyncio.Future[None] = loop.create_future()
    loop.call_soon(_set_unless_cancelled, made)
    try:
        await made
    except BaseException:
        transport.close()
        raise
    return transport, protocol


def _set_unless_cancelled(made: asyncio.Future[None]) -> None:
    if not made.done():
        made.set_result(None)


async def serve(
    loop: SimLoop,
    protocol_factory: ProtocolFactory,
    host: Any,
    port: Any,
    *,
    backlog: int = 100,
    start_serving: bool = True,
    **options: Any,
) -> SimServer:
    """Listen on one address, or on several with one port. Port 0 takes a free one."""
    _reject_unsupported(options)
    hosts = [host] if isinstance(host, str) else list(host or ())
    if not hosts:
        raise OSError(EINVAL, "virtual time: a server wants the address to listen on")
    addresses = [validated_address(each, port or loop.network.new_port()) for each in hosts]
    server = SimServer(loop, protocol_factory, addresses, backlog)
    if start_serving:
        await server.start_serving()
    return server


class _Bound:
    """What `Server.sockets` shows of a listening socket."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def getsockname(self) -> Address:
        return self._address


class SimServer(asyncio.AbstractServer):
    """A server on the simulated network. After `close`, `wait_closed` waits for open connections from Python 3.12 on,
    as asyncio's own does."""

    def __init__(
        self, loop: SimLoop, protocol_factory: ProtocolFactory, addresses: list[Address], backlog: int
    ) -> None:
        self._loop = loop
        self._protocol_factory: ProtocolFactory | None = protocol_factory
        self._addresses = addresses
        self._backlog = backlog
        self._listeners: list[Listener] | None = []
        self._transports: dict[SimTransport, None] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._forever: asyncio.Future[None] | None = None

    @property
    def sockets(self) -> tuple[_Bound, ...]:
        return tuple(_Bound(listener.address) for listener in self._listeners or ())

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def is_serving(self) -> bool:
        return bool(self._listeners)

    async def start_serving(self) -> None:
        if self._listeners is None:
            raise RuntimeError(f"server {self!r} is closed")
        factory, self._protocol_factory = self._protocol_factory, None  # its listeners have it, until they close
        if factory is not None:
            for address in self._addresses:
                listener = self._loop.network.listen(address, self._backlog)
                self._listeners.append(listener)
                listener.set_acceptor(_Accepting(self, listener, factory))

    async def serve_forever(self) -> None:
        await self.start_serving()
        self._forever = self._loop.create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()

    def close(self) -> None:
        listeners, self._listeners = self._listeners, None
        for listener in listeners or ():
            listener.close()
        if self._forever is not None:
            self._forever.cancel()
        self._wake()

    def close_clients(self) -> None:
        for transport in tuple(self._transports):
            transport.close()

    def abort_clients(self) -> None:
        for transport in tuple(self._transports):
            transport.abort()

    async def wait_closed(self) -> None:
        if sys.version_info >= (3, 12) and (self._listeners is not None or self._transports):
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter

    def accept(self, listener: Listener, protocol_factory: ProtocolFactory) -> None:
        """Take what waits, as much as the backlog allows at once."""
        for _ in range(self._backlog):
            if not listener.queue:
                return
            socket = listener.accept()
            transport = SimTransport(self._loop, socket, protocol_factory(), detached=self._detach)
            self._transports[transport] = None

    def _detach(self, transport: SimTransport) -> None:
        self._transports.pop(transport, None)
        self._wake()

    def _wake(self) -> None:
        if self._listeners is None and not self._transports:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)


class _Accepting:
    """Hands the connections of one listener to its server."""

    def __init__(self, server: SimServer, listener: Listener, protocol_factory: ProtocolFactory) -> None:
        self._server = server
        self._listener = listener
        self._protocol_factory = protocol_factory

    def accept_ready(self) -> None:
        self._server.accept(self._listener, self._protocol_factory)
