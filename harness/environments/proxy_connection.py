"""One connection of a broker's proxy, on one of its sides: what each of its directions carried, by its packets."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from harness.brokers.embedded.intercepts import PROBE_CLIENT_ID
from harness.levers import FLOWS, Flow

Side = Literal["client", "broker"]
"""Whom the proxy talks to on a connection."""

_HEAD_BYTES = 64
_PROBE = PROBE_CLIENT_ID.encode()
_HALF, _WHOLE = 1 << 31, 1 << 32


class ProxyPacket(NamedTuple):
    """A segment on one side of a proxy. `port` is the dialler's, `flow` that of the segment; `head` is how its payload
    of `length` bytes begins. `ack` is None where it acknowledges nothing, as a reset."""

    side: Side
    port: int
    flow: Flow
    seq: int
    ack: int | None
    length: int
    head: bytes
    opens: bool
    ends: bool
    at_ns: int


class StreamBytes(NamedTuple):
    """New bytes of a stream, up to this offset, in one segment."""

    at_ns: int
    number: int
    end: int


@dataclass(slots=True)
class ByteStream:
    """One direction of a connection, by offsets from the first byte that was seen: what was sent, each byte once, and
    how much of it the receiver has acknowledged."""

    base: int | None = None
    sent: int = 0
    acknowledged: int = 0
    parts: list[StreamBytes] = field(default_factory=list)

    def send(self, packet: ProxyPacket) -> None:
        end = self._offset(packet.seq) + packet.length
        if packet.length and end > self.sent:  # behind a FIN, which takes a number, comes no byte
            self.parts.append(StreamBytes(packet.at_ns, end - self.sent, end))
            self.sent = end

    def acknowledge(self, ack: int) -> None:
        offset = self._offset(ack)
        if offset < 0:
            self._begin_earlier(-offset)
        self.acknowledged = max(self.acknowledged, offset)

    def _begin_earlier(self, number: int) -> None:
        """So many bytes are still to come that were sent, and lost, before anything was seen of the stream."""
        assert self.base is not None, "there is a first byte"
        self.base -= number
        self.acknowledged += number if self.acknowledged else 0
        if self.parts:
            self.parts[0] = self.parts[0]._replace(number=self.parts[0].number + number)
            self.parts = [part._replace(end=part.end + number) for part in self.parts]
            self.sent += number

    def _offset(self, number: int) -> int:
        if self.base is None:
            self.base = number
        return (number - self.base + _HALF) % _WHOLE - _HALF

    def arrived(self) -> Iterable[StreamBytes]:
        """What its receiver has: packets that were dropped on the way never went into the proxy."""
        return (part for part in self.parts if part.end <= self.acknowledged)


@dataclass(slots=True)
class ProxyConnection:
    side: Side
    opened_ns: int = 0
    streams: dict[Flow, ByteStream] = field(default_factory=lambda: {flow: ByteStream() for flow in FLOWS})
    open: bool = False
    ended_ns: int | None = None
    ended_by: Flow | None = None
    """The direction in which the first FIN or reset went."""
    head: bytes = b""
    probe: bool = False

    def take(self, packet: ProxyPacket) -> None:
        if packet.opens:
            return
        if packet.ends and self.ended_ns is None and self.open:
            self.ended_ns, self.ended_by = packet.at_ns, packet.flow
        if packet.ends and not packet.length and not self.open:
            return  # a dial that was refused
        self.open = self.open or packet.flow == "to_broker"
        back: Flow = "to_client" if packet.flow == "to_broker" else "to_broker"
        if packet.ack is not None:
            self.streams[back].acknowledge(packet.ack)
        self.streams[packet.flow].send(packet)
        if packet.flow == "to_broker" and packet.length and len(self.head) < _HEAD_BYTES:
            self.head += packet.head[: packet.length]
            self.probe = self.probe or _PROBE in self.head
