"""A Toxiproxy proxy: the kernel accepts at once, the proxy takes one connection after the other and dials upstream.

Source: Shopify/toxiproxy v2.12.0 proxy.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING

from harness.environments.sim.hosts import Host
from harness.environments.sim.link import Link
from harness.environments.sim.network import CLIENT_ADDRESS
from harness.environments.sim.segment import Address
from harness.environments.sim.socket import TcpSocket
from harness.environments.sim.timers import DELAY_S
from harness.environments.sim.toxics import TOXICS, SimToxic
from harness.levers import FLOWS, Flow

if TYPE_CHECKING:
    from harness.environments.sim.listener import Listener
    from harness.environments.sim.loop import SimLoop

BACKLOG = 4096
"""net.core.somaxconn, which Go asks for."""

_HAND_OVER_S = 8 * DELAY_S
"""How long the end of one link takes through the three goroutines of the other one, which then closes its connection
too. Kernels are faster: what the first one reads ahead is filled up by then, which takes three round trips at most."""


class Proxy:
    """One proxy of the simulated Toxiproxy server. Its methods may be called from any host; it works on its own."""

    def __init__(self, host: Host, loop: SimLoop, listen: Address, upstream: Address, rng: Random) -> None:
        self.address = listen
        self.upstream = upstream
        self._host = host
        self._loop = loop
        self._rng = rng
        self._listener: Listener | None = None
        self._pairs: dict[_ProxiedConnection, None] = {}
        self._chains: dict[Flow, list[SimToxic]] = {flow: [] for flow in FLOWS}
        self._dialling: _Dial | None = None
        self._changing_until_s = 0.0

    def peers(self) -> list[str]:
        """The hosts of the clients whose connections it has linked, or is dialling for, one for each connection."""
        clients = [pair.client for pair in self._pairs]
        if self._dialling is not None:
            clients.append(self._dialling.client)
        return [client.remote[0] for client in clients]

    def enable(self) -> None:
        """Listen and serve connections. Raises OSError where the address is taken."""
        self._host.context.copy().run(self._listen)

    async def disable(self) -> None:
        """Refuse new connections and close the open ones, once a dial under way has ended."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._dialling is not None:
            await self._dialling.done
        for pair in tuple(self._pairs):
            pair.close()

    async def add(self, kind: str, flow: Flow, attributes: Mapping[str, int], toxicity: float = 1.0) -> SimToxic:
        """Add a toxic to open connections and to later ones. Raises KeyError for a kind that is not known."""
        toxic = TOXICS[kind](attributes, self._rng, toxicity)
        self._chains[flow].append(toxic)
        for pair in tuple(self._pairs):
            self._host.context.copy().run(pair.links[flow].add, toxic)
        await self._heard(flow)
        return toxic

    def spare_connections(self, toxic: SimToxic, flow: Flow) -> None:
        """Have a toxic affect no connection any more, open ones included."""
        toxic.toxicity = 0.0
        for pair in tuple(self._pairs):
            self._host.context.copy().run(pair.links[flow].run_anew, toxic)

    async def remove(self, toxic: SimToxic, flow: Flow) -> None:
        """Remove a toxic. What it holds is forwarded at once."""
        self._chains[flow].remove(toxic)
        for pair in tuple(self._pairs):
            self._host.context.copy().run(pair.links[flow].remove, toxic)
        await self._heard(flow)

    async def _heard(self, flow: Flow) -> None:
        """Wait for toxics that no change interrupts, as Toxiproxy does; it links no connection meanwhile."""
        own_s = max((pair.links[flow].deaf_until_s for pair in self._pairs), default=0.0)
        self._changing_until_s = max(own_s, self._changing_until_s)  # one change waits for the other
        if self._changing_until_s > self._loop.now:
            await asyncio.sleep(self._changing_until_s - self._loop.now)

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        for pair in self._pairs:
            pair.links.clear()
        self._pairs.clear()

    def accept_ready(self) -> None:
        """Take one connection; no further one before the dial for it has ended."""
        listener = self._listener
        assert listener is not None, "a closed listener accepts nothing"
        client = listener.accept()
        listener.set_acceptor(None)
        self._dialling = _Dial(self, client, self._loop.create_future())
        local = CLIENT_ADDRESS, self._loop.network.new_port()
        self._dialling.upstream = TcpSocket.connect(self._loop.network, local, self.upstream, self._dialling)

    def finish_dial(self, dial: _Dial, error: OSError | None) -> None:
        """The dial has ended: link both connections, or drop the client's."""
        if error is None and self._changing_until_s > self._loop.now:
            self._loop.call_at(self._changing_until_s, self.finish_dial, dial, error)
            return
        self._dialling = None
        dial.done.set_result(None)
        if error is None and dial.upstream is not None:
            pair = _ProxiedConnection(self._loop, dial.client, dial.upstream, self._chains, self._pairs)
            self._pairs[pair] = None
            pair.start()
        else:
            dial.client.close()
        if self._listener is not None:
            self._listener.set_acceptor(self)

    def _listen(self) -> None:
        self._listener = self._loop.network.listen(self.address, BACKLOG)
        self._listener.set_acceptor(self)


class _Dial:
    """The accept loop while it dials upstream."""

    def __init__(self, proxy: Proxy, client: TcpSocket, done: asyncio.Future[None]) -> None:
        self.client = client
        self.upstream: TcpSocket | None = None
        self.done = done
        self._proxy = proxy

    def connected(self, error: OSError | None) -> None:
        self._proxy.finish_dial(self, error)

    def read_ready(self) -> None:
        raise AssertionError("a dial reads nothing")

    write_ready = read_ready


class _ProxiedConnection:
    """A client's connection, the one upstream, and the two links between them. Each link closes what it writes to."""

    def __init__(
        self,
        loop: SimLoop,
        client: TcpSocket,
        upstream: TcpSocket,
        chains: Mapping[Flow, list[SimToxic]],
        pairs: dict[_ProxiedConnection, None],
    ) -> None:
        self.client = client
        self._loop = loop
        self._pairs = pairs
        self._open = {client: None, upstream: None}
        self._aborts = any(toxic.aborts for chain in chains.values() for toxic in chain)
        to_broker = Link(loop, client, upstream, chains["to_broker"], self._ended)
        to_client = Link(loop, upstream, client, chains["to_client"], self._ended)
        self.links: dict[Flow, Link] = {"to_broker": to_broker, "to_client": to_client}
        client.set_handler(_Side(reads=to_broker, writes=to_client))
        upstream.set_handler(_Side(reads=to_client, writes=to_broker))

    def start(self) -> None:
        for link in self.links.values():
            link.start()

    def close(self) -> None:
        """Close both connections: what is inside is lost."""
        for socket in self._open:
            self._close(socket)
        for link in self.links.values():
            link.stop()
        self._over()

    def _ended(self, link: Link) -> None:
        self._open.pop(link.destination, None)
        self._close(link.destination)
        for other in tuple(self.links.values()):
            if other is not link:
                self._loop.call_later(_HAND_OVER_S, other.end_source)
        if not self._open:
            self._over()

    def _close(self, socket: TcpSocket) -> None:
        (socket.abort if self._aborts else socket.close)()

    def _over(self) -> None:
        self._pairs.pop(self, None)
        self.links.clear()  # they and this hold each other


class _Side:
    """Owner of one of the two sockets: it is read by one link and written by the other."""

    def __init__(self, *, reads: Link, writes: Link) -> None:
        self.read_ready = reads.read_ready
        self.write_ready = writes.write_ready

    def connected(self, error: OSError | None) -> None:
        raise AssertionError("a linked socket is connected")
