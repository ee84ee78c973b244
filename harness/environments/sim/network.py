"""The loopback network that all hosts share: carries segments, applies packet rules, knows sockets and listeners."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from errno import EADDRINUSE
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Protocol, TypeVar

from harness.environments.sim.listener import Listener
from harness.environments.sim.rules import PacketRule, RefusalTap
from harness.environments.sim.segment import ACK, FIN, RST, SYN, Address, Segment
from harness.environments.sim.sender import SEGMENT_SIZE
from harness.environments.sim.timers import DELAY_S, TimerWheel
from harness.levers import PacketAction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.environments.sim.datagrams import SimDatagrams
    from harness.environments.sim.loop import SimLoop
    from harness.environments.sim.socket import TcpSocket

Seen = TypeVar("Seen", covariant=True)


class Tap(Protocol[Seen]):
    """Looks at segments; `seen` is what it has found."""

    @property
    def seen(self) -> Seen: ...

    def look_at(self, segment: Segment) -> None: ...


CLIENT_ADDRESS = "127.0.0.1"
"""What a dialler's own address is on the loopback interface, whatever it dials."""

FIRST_PORT = 32768
"""Where the kernel's range of ephemeral ports begins."""


class Network:
    """One network namespace. Rules sit on the receiver's input hook or on the sender's output hook, in the order in
    which they were put there.

    `delays` says whether a rule delays packets, or did: until then every round trip is the same, and nobody measures.
    `segment_size` is the largest payload of a segment that is sent from now on.
    """

    def __init__(self, loop: SimLoop, rng: Random) -> None:
        self.loop = loop
        self.wheel = TimerWheel(rng)
        self.delays = False
        self.segment_size = SEGMENT_SIZE
        self.sockets: dict[tuple[Address, Address], TcpSocket] = {}
        self.listeners: dict[Address, Listener] = {}
        self.datagrams: dict[Address, SimDatagrams] = {}
        self._taps: list[Tap[object]] = []
        self._refusal_taps: list[RefusalTap] = []
        self._input: list[PacketRule] = []
        self._output: list[PacketRule] = []
        self._rules_made = 0
        self._port = FIRST_PORT

    def now_ns(self) -> int:
        """The simulation's clock."""
        return round(self.loop.now * 1e9)

    def new_port(self) -> int:
        """The next ephemeral port; none is used twice in a run."""
        port, self._port = self._port, self._port + 1
        return port

    @property
    def ordinary(self) -> bool:
        """Whether segments are those of an ordinary network, since a rule treats them one by one. Then connections keep
        the rules by which Linux limits how many are on their way; on loopback, where one segment is a whole message,
        nothing shows of these."""
        return self.segment_size < SEGMENT_SIZE

    @contextmanager
    def rule(self, rule: PacketRule) -> Iterator[PacketRule]:
        """The rule is in force while the context is entered."""
        rules = self._input if rule.hook == "receiver" else self._output
        self._rules_made += 1
        rule.number = self._rules_made
        rules.append(rule)
        self.delays = self.delays or rule.hold is not None
        try:
            yield rule
        finally:
            rules.remove(rule)
            if rule.hold is not None:
                rule.hold.release_all(self.loop)

    @contextmanager
    def tapped(self, tap: Tap[Seen]) -> Iterator[Seen]:
        """The tap looks at every segment that arrives while the context is entered."""
        self._taps.append(tap)
        try:
            yield tap.seen
        finally:
            self._taps.remove(tap)

    @contextmanager
    def refusals_tapped(self, tap: RefusalTap) -> Iterator[None]:
        """The tap looks at every SYN that finds no listener while the context is entered."""
        self._refusal_taps.append(tap)
        try:
            yield
        finally:
            self._refusal_taps.remove(tap)

    def listen(self, address: Address, backlog: int) -> Listener:
        """Open a listening socket for the running host. Raises OSError (EADDRINUSE) where there is one."""
        if address in self.listeners:
            raise OSError(EADDRINUSE, f"error while attempting to bind on address {address!r}: address already in use")
        listener = Listener(self, address, backlog)
        self.listeners[address] = listener
        return listener

    def send(self, segment: Segment) -> bool:
        """Put a segment on the wire. False where an output rule refused it: then it was never sent."""
        for rule in self._output:
            if rule.match_and_count(segment):
                return False
        self.loop.call_kernel_at(self.loop.now + DELAY_S, self._arrive, segment)
        return True

    def resets(self, socket: TcpSocket) -> bool:
        """Whether data from this socket is answered with a reset: by a rule, or since nobody will read it."""
        data = Segment(socket.local, socket.remote, ACK, socket.sender.next_seq, b"x")
        if any(rule.applies_to(data) for rule in self._output):
            return False
        for rule in self._input:
            if rule.applies_to(data):
                return rule.always_resets
        peer = self.sockets.get((socket.remote, socket.local))
        if peer is not None:
            return peer.orphan
        listener = self.listeners.get(socket.remote)
        return listener is None or not listener.is_opening(socket.local)

    def dispose(self) -> None:
        """The simulation is over: forget every socket and listener."""
        for socket in self.sockets.values():
            socket.dispose()
        for listener in self.listeners.values():
            listener.dispose()
        self.sockets.clear()
        self.listeners.clear()
        self.datagrams.clear()
        del self.loop

    def undelivered_sockets(self) -> tuple[TcpSocket, ...]:
        """Sockets through which something may still come to a server: a client's, closed by its process or open, with
        something that has not arrived; a server's with something to be read."""
        return tuple(
            socket
            for socket in self.sockets.values()
            if not socket.connecting
            and (
                socket.receiver.unread
                if socket.local[1] < FIRST_PORT
                else socket.sender.queued or (socket.orphan and not socket.sender.fin_acked)
            )
        )

    def _arrive(self, segment: Segment, past: int = 0) -> None:
        """`past`: the number of the rule that has held it; it and those before treat it no more."""
        if not past:
            for tap in self._taps:
                tap.look_at(segment)
        for rule in self._input:
            if rule.number > past and rule.match_and_count(segment):
                if rule.hold is not None:
                    rule.hold.take(segment, self.loop, partial(self._arrive, past=rule.number))
                    return
                if rule.verdict is PacketAction.DUPLICATE:
                    self.loop.call_kernel_at(self.loop.now + DELAY_S, self._arrive, copy(segment), rule.number)
                    continue
                if rule.verdict in (PacketAction.REFUSE, PacketAction.RESET):
                    self.reset(segment)
                if rule.verdict is PacketAction.RESET:
                    self.send(Segment(segment.src, segment.dst, RST | ACK, segment.seq, ack=segment.ack))
                return
        socket = self.sockets.get((segment.dst, segment.src))
        if socket is not None:
            socket.receive_segment(segment)
            return
        listener = self.listeners.get(segment.dst)
        if listener is not None and listener.receive_segment(segment):
            return
        if segment.flags & (SYN | ACK) == SYN:
            for refusal_tap in self._refusal_taps:
                refusal_tap.look_at(segment)
        self.reset(segment)

    def reset(self, segment: Segment) -> None:
        """Answer a segment that belongs to no socket, as its destination would."""
        if not segment.flags & RST:
            end = segment.seq + len(segment.payload) + (1 if segment.flags & FIN else 0)
            self.send(Segment(segment.dst, segment.src, RST | ACK, segment.ack, ack=end))
