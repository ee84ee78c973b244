"""What became of a program's connections, as the wire shows it: how long dials, answers and silence took.

It is for programs that report no waits, whose time would otherwise be a blank. Nothing is guessed: a wait for an answer
begins with bytes of the client that were not seen before, and ends with bytes of the broker that the client's kernel
acknowledged, or with the connection.
"""

from dataclasses import dataclass, field
from ipaddress import IPv4Address

from harness.environments.linux import addresses
from harness.environments.linux import packet_socket as bpf
from harness.environments.linux.packet_socket import HeaderRing
from harness.environments.linux.traffic_capture import ACK, ANY_CLIENT_TRAFFIC, FIN, RST, SYN, Segment
from harness.environments.world import WireSpan

MAX_PACKETS = 5000
"""More are not looked at: a client under load must not be slowed down by its observer."""
_BURST_NS = 1_000_000
"""Bytes so close behind one another are one request."""
_HALF = 1 << 31
_NO_ANSWER = "no answer"


@dataclass(slots=True)
class _Stream:
    """One direction's bytes: `next_number` is the first that was not seen yet."""

    next_number: int | None = None

    def takes(self, segment: Segment) -> bool:
        """Whether it has bytes that were not seen before; a retransmission has none. Numbers wrap (RFC 9293)."""
        if not segment.payload_bytes:
            return False
        end = (segment.sequence_number + segment.payload_bytes) % (2 * _HALF)
        if self.next_number is not None and (end - self.next_number - 1) % (2 * _HALF) >= _HALF:
            return False
        self.next_number = end
        return True


@dataclass(slots=True)
class _Conversation:
    """A connection from its first SYN on. `asked_ns` is since when an answer is awaited, `sent_ns` when the client last
    sent bytes, `unconfirmed` the broker's first bytes that the client's kernel has not acknowledged: when, and their
    number."""

    address: str
    port: int
    syn_number: int
    began_ns: int
    tried_ns: int
    connected: bool = False
    asked_ns: int | None = None
    sent_ns: int = 0
    unconfirmed: tuple[int, int] | None = None
    over: bool = False
    spans: list[WireSpan] = field(default_factory=list)
    requests: _Stream = field(default_factory=_Stream)
    answers: _Stream = field(default_factory=_Stream)

    def from_client(self, segment: Segment, at_ns: int) -> None:
        if self.over:
            return
        if not self.connected:
            self.connected = True
            self._add("dial", self.began_ns, at_ns, "connected")
        if self.unconfirmed is not None and self._acknowledges(segment, self.unconfirmed[1]):
            self._answered(self.unconfirmed[0])
        if segment.flags & (RST | FIN):
            self._end("reset by the client" if segment.flags & RST else "closed by the client", at_ns)
        elif self.requests.takes(segment):
            self.asked_ns = at_ns if self.asked_ns is None else self.asked_ns
            self.sent_ns = at_ns

    def from_broker(self, segment: Segment, at_ns: int) -> None:
        if self.over:
            return
        if segment.flags & RST:
            self._end("reset by the broker" if self.connected else "refused", at_ns)
        elif segment.flags & FIN:
            self._end("closed by the broker", at_ns)
        elif self.answers.takes(segment) and self.asked_ns is not None and self.unconfirmed is None:
            self.unconfirmed = at_ns, segment.sequence_number

    def told(self, until_ns: int | None) -> list[WireSpan]:
        """Everything until now, or until nobody looked any more."""
        if not self.connected and not self.over:
            return [self._span("dial", self.began_ns, self.tried_ns, _NO_ANSWER)]
        if self.asked_ns is None or self.over:
            return self.spans
        ended = None if until_ns is None else max(until_ns, self.asked_ns)
        return [*self.spans, self._span("answer", self.asked_ns, ended, None if ended is None else "not looked at")]

    def _acknowledges(self, segment: Segment, number: int) -> bool:
        return bool(segment.flags & ACK) and 0 < (segment.acknowledged - number) % (2 * _HALF) < _HALF

    def _answered(self, at_ns: int) -> None:
        assert self.asked_ns is not None
        self._add("answer", self.asked_ns, at_ns, "first bytes")
        later = self.sent_ns > self.asked_ns + _BURST_NS
        self.asked_ns, self.unconfirmed = (self.sent_ns if later else None), None

    def _end(self, how: str, at_ns: int) -> None:
        self.over = True
        if not self.connected:
            self._add("dial", self.began_ns, at_ns, how)
            return
        if self.asked_ns is not None:
            self._add("answer", self.asked_ns, at_ns, how)
        self._add(how, at_ns, at_ns, how)

    def _add(self, what: str, began_ns: int, ended_ns: int, outcome: str) -> None:
        self.spans.append(self._span(what, began_ns, ended_ns, outcome))

    def _span(self, what: str, began_ns: int, ended_ns: int | None, outcome: str | None) -> WireSpan:
        return WireSpan(
            what=what, began_ns=began_ns, ended_ns=ended_ns, outcome=outcome, address=self.address, port=self.port
        )


class ConversationCapture:
    """Sees from its making on, in the network namespace in which it is made, on the running loop. Raises
    PacketSocketRefused."""

    def __init__(self) -> None:
        self._socket = HeaderRing(ANY_CLIENT_TRAFFIC)
        self._all: list[_Conversation] = []
        self._open: dict[tuple[str, int, str], _Conversation] = {}
        self._packets = 0
        self._stopped_ns: int | None = None
        self._socket.call_when_seen(self._read)

    def spans(self) -> tuple[WireSpan, ...]:
        """What was seen so far, in time's order."""
        self._read()
        told = (span for one in self._all for span in one.told(self._stopped_ns))
        return tuple(sorted(told, key=lambda span: span.began_ns))

    def _read(self) -> None:
        for packet, at_ns in self._socket.read():
            if self._stopped_ns is not None:
                continue
            self._packets += 1
            self._take(Segment.parse(packet), at_ns)
            if self._packets >= MAX_PACKETS:
                self._stopped_ns = at_ns
                self._socket.attach((bpf.REJECT,))

    def _take(self, segment: Segment, at_ns: int) -> None:
        to_broker = segment.target_port == addresses.PORT and IPv4Address(segment.target) in addresses.ADVERTISED
        client, port = (segment.source, segment.source_port) if to_broker else (segment.target, segment.target_port)
        host = segment.target if to_broker else segment.source
        key = client, port, host
        known = self._open.get(key)
        if to_broker and segment.flags & (SYN | ACK) == SYN:
            if known is None or known.syn_number != segment.sequence_number:
                address = addresses.text((host, addresses.PORT))
                known = _Conversation(address, port, segment.sequence_number, at_ns, at_ns)
                self._all.append(known)
                self._open[key] = known
            known.tried_ns = at_ns
        elif known is None or segment.flags & SYN:
            return
        elif to_broker:
            known.from_client(segment, at_ns)
        else:
            known.from_broker(segment, at_ns)

    def close(self) -> None:
        self._socket.close()
