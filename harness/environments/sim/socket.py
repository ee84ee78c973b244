"""One end of a TCP connection, as the kernel keeps it: handshake, both halves, FIN and RST, what outlives the process.

Left out: Nagle, path MTU, TIME-WAIT, and on loopback congestion control.
"""

from __future__ import annotations

from contextvars import Context
from errno import ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT
from os import strerror
from socket import SO_KEEPALIVE, SOL_SOCKET
from typing import TYPE_CHECKING, Protocol

from harness.environments.sim.acknowledgements import Acknowledgements
from harness.environments.sim.hosts import Host, current_context, current_host
from harness.environments.sim.keep_alive import KeepAlive
from harness.environments.sim.paced_sender import PacedSender
from harness.environments.sim.receive_window import TunedReceiver
from harness.environments.sim.receiver import Receiver
from harness.environments.sim.round_trip import RoundTrip
from harness.environments.sim.segment import ACK, FIN, RST, SYN, Address, Segment
from harness.environments.sim.sender import Sender
from harness.environments.sim.timers import FIN_WAIT_2_S, SYN_INTERVALS_S

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer
    from harness.environments.sim.network import Network


class SocketHandler(Protocol):
    """The process's side of a socket. Called on the socket's host, never from within a call of its own."""

    def connected(self, error: OSError | None) -> None: ...

    def read_ready(self) -> None:
        """There is something to read: bytes, the end, or an error. Called again as long as there is."""

    def write_ready(self) -> None:
        """The send buffer has room, or the connection is over. Called again as long as that is so."""


class TcpSocket:
    """`connecting`: no handshake yet. `orphan`: its process has closed it. `gone`: the kernel has forgotten it."""

    def __init__(self, network: Network, local: Address, remote: Address, *, peer_edge: int | None) -> None:
        self.network = network
        self.loop = network.loop
        self.local = local
        self.remote = remote
        self.connecting = peer_edge is None
        self.orphan = False
        self.gone = False
        self.receiver = TunedReceiver(network.loop) if network.ordinary else Receiver()
        self.sender = PacedSender(self, peer_edge or 0) if network.ordinary else Sender(self, peer_edge or 0)
        self._acknowledgements = Acknowledgements(self, self.receiver)
        self.host: Host | None = None
        self._context: Context | None = None
        self._handler: SocketHandler | None = None
        self._error: int | None = None
        self._wants_read = self._wants_write = False
        self._read_posted = self._write_posted = False
        self._syns = 0
        self._timer: KernelTimer | None = None
        self._keep_alive: KeepAlive | None = None
        network.sockets[local, remote] = self

    # The process's calls.

    @classmethod
    def connect(cls, network: Network, local: Address, remote: Address, handler: SocketHandler) -> TcpSocket:
        """Begin to dial; `handler.connected` tells how it ended."""
        socket = cls(network, local, remote, peer_edge=None)
        socket.attach_to_host(current_host(), current_context())
        socket._handler = handler
        socket._dial()
        return socket

    def attach_to_host(self, host: Host, context: Context) -> None:
        """The descriptor belongs to this host from now on."""
        self.host = host
        self._context = context
        host.sockets[self] = None

    def set_handler(self, handler: SocketHandler) -> None:
        self._handler = handler

    def want_read(self, *, wanted: bool) -> None:
        self._wants_read = wanted
        self._post_read()

    def want_write(self, *, wanted: bool) -> None:
        self._wants_write = wanted
        self._post_write()

    @property
    def writer_waits(self) -> bool:
        """Whether its process has more to write than the kernel has taken."""
        return self._wants_write

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Those of keep-alives, as socket.socket has it; of a connection that is over nothing changes."""
        if self.gone:
            return
        if (level, option) == (SOL_SOCKET, SO_KEEPALIVE):
            self._keep_alive = KeepAlive(self)
        elif self._keep_alive is not None:
            self._keep_alive.set(option, value)

    def send(self, data: bytes | memoryview) -> int:
        """How many bytes the kernel took: 0 where the send buffer is full. Raises the connection's error once, then
        BrokenPipeError.

        On loopback, what the peer's kernel answers is there when the call returns: a write directly after one that met
        no peer finds its reset.
        """
        if self.sender.sent_now and self.network.resets(self):
            self._reset_by_peer()
        self._raise_error()
        if self.gone or self.orphan:
            raise BrokenPipeError(EPIPE, strerror(EPIPE))
        sender, left = self.sender, data
        while left and (room := sender.room) > 0:
            sender.write(left if len(left) <= room else memoryview(left)[:room])
            left = memoryview(left)[room:] if len(left) > room else b""
        return len(data) - len(left)

    def receive(self, limit: int) -> bytes:
        """Bytes that have arrived; empty means the end. Raises the connection's error once, BlockingIOError where there
        is nothing to read yet."""
        data = self.receiver.read(limit)
        if data:
            if not self.gone and (self.receiver.window_opened() or self._acknowledgements.due_after_read()):
                self.emit(ACK, self.sender.next_seq)
            return data
        self._raise_error()
        if self.receiver.ended or self.gone:
            return b""
        raise BlockingIOError

    def shutdown_write(self) -> None:
        """Half-close: FIN after what is queued."""
        if not self.gone:
            self.sender.finish()

    def close(self) -> None:
        """The process closes the descriptor, or has died. What is queued is still delivered, unless input was left
        unread: then the peer is reset at once. May be repeated."""
        if self.host is not None:
            self.host.sockets.pop(self, None)
        self._handler = None
        if self.orphan or self.gone:
            return
        if self.connecting:
            self._forget()
        elif self.receiver.unread:
            self.reset()
        else:
            self.orphan = True
            self.sender.finish()
            self._settle()

    def abort(self) -> None:
        """Close as with SO_LINGER at 0: what is queued is dropped and the peer is reset. May be repeated."""
        if self.host is not None:
            self.host.sockets.pop(self, None)
        self._handler = None
        if not (self.orphan or self.gone):
            self.reset()

    def reset(self) -> None:
        """Tell the peer that the connection is gone, and drop it."""
        self.emit(RST | ACK, self.sender.next_seq)
        self._forget()

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        self._handler = self._context = self.host = None
        self.sender.dispose()
        self._stop_timers()

    # The kernel's part.

    def emit(self, flags: int, seq: int, payload: bytes = b"") -> bool:
        """Send a segment. False where it was refused on the way out."""
        receiver = self.receiver
        ack, edge = receiver.next_seq, receiver.advertise()
        segment = Segment(self.local, self.remote, flags, seq, payload, ack, edge, receiver.sacks())
        segment.at, segment.echo = self.loop.now, receiver.echo
        self._acknowledgements.sent(data=bool(payload))
        return self.network.send(segment)

    def receive_segment(self, segment: Segment) -> None:
        """Take a segment that the input hook let through."""
        flags = segment.flags
        if self.connecting:
            self._receive_while_connecting(segment)
            return
        if self._keep_alive is not None:
            self._keep_alive.heard()
        if flags & RST:
            self._reset_by_peer()
            return
        if flags & SYN:
            if flags & ACK:  # our ACK of it was lost: the peer is still waiting
                self.emit(ACK, self.sender.next_seq)
            return
        if self.orphan and segment.seq + len(segment.payload) > self.receiver.next_seq:
            self.reset()  # it can never be read
            return
        if not self._acknowledgements.hear(segment):
            return
        made_room = self.sender.acknowledge(segment)
        if segment.payload or flags & FIN:
            new = self.receiver.take(segment)
            if new:
                self._post_read()
            if self._acknowledgements.due(segment, new=new):
                self.emit(ACK, self.sender.next_seq)
        elif segment.seq < self.receiver.next_seq:  # a probe of our window
            self.emit(ACK, self.sender.next_seq)
        if made_room:
            self._post_write()
        if self.orphan:
            self._settle()

    def fail(self, errno: int) -> None:
        """The connection is over by an error, which the process gets at its next call."""
        self._error = errno
        self._forget()
        self._post_read()
        self._post_write()

    def _reset_by_peer(self) -> None:
        self.fail(EPIPE if self.receiver.ended else ECONNRESET)

    def _dial(self) -> None:
        syn = Segment(self.local, self.remote, SYN, edge=self.receiver.edge)
        syn.at = self.loop.now
        self.network.send(syn)
        fires_at = self.network.wheel.fires_at(self.loop.now, SYN_INTERVALS_S[self._syns])
        self._timer = self.loop.call_kernel_at(fires_at, self._unanswered)

    def _unanswered(self) -> None:
        self._syns += 1
        if self._syns == len(SYN_INTERVALS_S):
            self._finish_connect(ETIMEDOUT)
        else:
            self._dial()

    def _receive_while_connecting(self, segment: Segment) -> None:
        if segment.flags & RST:
            self._finish_connect(ECONNREFUSED)
        elif segment.flags & (SYN | ACK) == SYN | ACK:
            self.connecting = False
            if self.network.delays:
                self.sender.round_trip = RoundTrip(self.loop.now - segment.echo)
            self.emit(ACK, 0)
            self.sender.open(segment.edge)
            self._finish_connect(None)

    def _finish_connect(self, errno: int | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        error = None
        if errno is not None:
            self._forget()
            error = OSError(errno, f"Connect call failed {self.remote}")
        if self._handler is not None:
            self.loop.call_soon(self._handler.connected, error, context=self._context)

    def _settle(self) -> None:
        """An orphan whose FIN is acknowledged waits for the peer's, but not for ever."""
        if not self.sender.fin_acked or self.gone:
            return
        if self.receiver.ended:
            self._forget()
        elif self._timer is None:
            self._timer = self.loop.call_kernel_at(self.loop.now + FIN_WAIT_2_S, self._forget)

    def _forget(self) -> None:
        if self.gone:
            return
        self.gone = True
        del self.network.sockets[self.local, self.remote]
        self.sender.dispose()
        self._stop_timers()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_timers(self) -> None:
        self._acknowledgements.dispose()
        if self._keep_alive is not None:
            self._keep_alive.dispose()
            self._keep_alive = None

    def _raise_error(self) -> None:
        if self._error is not None:
            errno, self._error = self._error, None
            raise OSError(errno, strerror(errno))

    def _readable(self) -> bool:
        return self.receiver.unread > 0 or self.receiver.ended or self.gone

    def _post_read(self) -> None:
        if self._wants_read and not self._read_posted and self._readable():
            self._read_posted = True
            self.loop.call_soon(self._read_ready, context=self._context)

    def _read_ready(self) -> None:
        self._read_posted = False
        if self._wants_read and self._handler is not None:
            self._handler.read_ready()
            self._post_read()

    def _post_write(self) -> None:
        if self._wants_write and not self._write_posted and (self.gone or self.sender.writable):
            self._write_posted = True
            self.loop.call_soon(self._write_ready, context=self._context)

    def _write_ready(self) -> None:
        self._write_posted = False
        if self._wants_write and self._handler is not None:
            self._handler.write_ready()
            self._post_write()
