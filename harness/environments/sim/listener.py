"""A listening socket: half-open requests, and the accept queue that the kernel fills by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from harness.environments.sim.hosts import current_context, current_host
from harness.environments.sim.receiver import RECEIVE_BUFFER
from harness.environments.sim.segment import ACK, RST, SYN, Address, Segment
from harness.environments.sim.socket import TcpSocket
from harness.environments.sim.timers import SYN_ACK_INTERVALS_S

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer
    from harness.environments.sim.network import Network


class Acceptor(Protocol):
    def accept_ready(self) -> None:
        """A connection waits in the accept queue. Called again as long as one does."""


class _Request:
    """A SYN that was answered and whose ACK has not come yet."""

    __slots__ = ("at", "edge", "timeouts", "timer")

    def __init__(self, edge: int, at: float) -> None:
        self.edge = edge
        self.at = at
        self.timeouts = 0
        self.timer: KernelTimer | None = None


class Listener:
    """Accepts up to `backlog` + 1 connections on its own; while that many wait, further SYNs and ACKs are dropped."""

    def __init__(self, network: Network, address: Address, backlog: int) -> None:
        self.address = address
        self.host = current_host()
        self.context = current_context()
        self.queue: list[TcpSocket] = []
        self._network = network
        self._backlog = backlog
        self._requests: dict[Address, _Request] = {}
        self._acceptor: Acceptor | None = None
        self._posted = False
        self.host.sockets[self] = None

    def set_acceptor(self, acceptor: Acceptor | None) -> None:
        """Call `acceptor` on this listener's host while connections wait; None: leave them in the queue."""
        self._acceptor = acceptor
        self._post()

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        self._acceptor = None

    def accept(self) -> TcpSocket:
        """Take the oldest connection out of the queue. Raises IndexError where none waits."""
        socket = self.queue.pop(0)
        socket.attach_to_host(self.host, self.context)
        return socket

    def close(self) -> None:
        """Stop listening. Connections in the accept queue are reset; half-open ones are forgotten. Repeatable."""
        if self._network.listeners.get(self.address) is not self:
            return
        del self._network.listeners[self.address]
        self.host.sockets.pop(self, None)
        self._acceptor = None
        for request in self._requests.values():
            if request.timer is not None:
                request.timer.cancel()
        self._requests.clear()
        while self.queue:
            self.queue.pop(0).reset()

    def is_opening(self, remote: Address) -> bool:
        """Whether the handshake with this address has begun and is not over."""
        return remote in self._requests

    def receive_segment(self, segment: Segment) -> bool:
        """Handle a segment for no known connection. False: it belongs to none, answer with a reset."""
        request = self._requests.get(segment.src)
        if segment.flags & RST:
            if request is not None:
                self._forget(segment.src, request)
            return True
        if segment.flags & (SYN | ACK) == SYN:
            if request is None and len(self.queue) <= self._backlog:
                request = self._requests[segment.src] = _Request(segment.edge, segment.at)
            if request is not None:
                self._answer(segment.src, request)
            return True
        if request is None:
            return False
        if len(self.queue) <= self._backlog:
            self._establish(segment, request)
        return True

    def _answer(self, remote: Address, request: _Request) -> None:
        answer = Segment(self.address, remote, SYN | ACK, edge=RECEIVE_BUFFER)
        answer.echo = request.at
        self._network.send(answer)
        if request.timer is not None:
            request.timer.cancel()
        network, wait_s = self._network, SYN_ACK_INTERVALS_S[request.timeouts]
        fires_at = network.wheel.fires_at(network.loop.now, wait_s)
        request.timer = network.loop.call_kernel_at(fires_at, self._unanswered, remote, request)

    def _unanswered(self, remote: Address, request: _Request) -> None:
        request.timeouts += 1
        if request.timeouts == len(SYN_ACK_INTERVALS_S):
            del self._requests[remote]
            return
        request.timer = None
        self._answer(remote, request)

    def _forget(self, remote: Address, request: _Request) -> None:
        del self._requests[remote]
        if request.timer is not None:
            request.timer.cancel()

    def _establish(self, segment: Segment, request: _Request) -> None:
        self._forget(segment.src, request)
        socket = TcpSocket(self._network, self.address, segment.src, peer_edge=request.edge)
        self.queue.append(socket)
        socket.receive_segment(segment)
        self._post()

    def _post(self) -> None:
        if self._acceptor is not None and self.queue and not self._posted:
            self._posted = True
            self._network.loop.call_soon(self._accept_ready, context=self.context)

    def _accept_ready(self) -> None:
        self._posted = False
        if self._acceptor is not None and self.queue:
            self._acceptor.accept_ready()
            self._post()
