"""create_datagram_endpoint on the simulated network: UDP between addresses of one loopback, which no rule treats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any

from harness.environments.sim.hosts import current_context, current_host
from harness.environments.sim.network import CLIENT_ADDRESS
from harness.environments.sim.segment import Address
from harness.environments.sim.timers import DELAY_S

if TYPE_CHECKING:
    from harness.environments.sim.loop import SimLoop


class SimDatagrams(asyncio.DatagramTransport):
    """One socket of the running host. What is sent to an address where there is none is lost."""

    def __init__(
        self, loop: SimLoop, protocol: asyncio.DatagramProtocol, local: Address, remote: Address | None
    ) -> None:
        super().__init__({"sockname": local, "peername": remote})
        self._loop = loop
        self._protocol = protocol
        self._local = local
        self._remote = remote
        self._host = current_host()
        self._context = current_context()
        self._closing = False
        loop.network.datagrams[local] = self
        self._host.sockets[self] = None

    def sendto(self, data: Any, addr: Any = None) -> None:
        if not self._closing:
            when = self._loop.now + DELAY_S
            self._loop.call_kernel_at(when, _deliver, self._loop, bytes(data), self._local, addr or self._remote)

    def receive(self, data: bytes, source: Address) -> None:
        if not self._closing and self._remote in (None, source):
            self._loop.call_soon(self._protocol.datagram_received, data, source, context=self._context)

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            del self._loop.network.datagrams[self._local]
            self._host.sockets.pop(self, None)
            self._loop.call_soon(self._protocol.connection_lost, None, context=self._context)

    abort = close


def _deliver(loop: SimLoop, data: bytes, source: Address, target: Address) -> None:
    socket = loop.network.datagrams.get(target)
    if socket is not None:
        socket.receive(data, source)


async def open_endpoint(
    loop: SimLoop,
    protocol_factory: Callable[[], asyncio.DatagramProtocol],
    *,
    local_addr: Address | None = None,
    remote_addr: Address | None = None,
) -> tuple[SimDatagrams, asyncio.DatagramProtocol]:
    """As asyncio's, for addresses as texts. Raises OSError (EADDRINUSE)."""
    local = local_addr or (CLIENT_ADDRESS, loop.network.new_port())
    if local in loop.network.datagrams:
        raise OSError(EADDRINUSE, f"error while attempting to bind on address {local!r}: address already in use")
    protocol = protocol_factory()
    transport = SimDatagrams(loop, protocol, local, remote_addr)
    protocol.connection_made(transport)
    return transport, protocol
