"""When the client's packets met a lever: what levers' evidence of an interval is made of in a cell.

Rules count, and only a packet socket says when. It is opened when the first lever is pulled, and its filter lets
nothing through while no lever is pulled: a run without a fault pays nothing. Where packets come faster than they are
read, what is seen is a lower bound.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from harness.environments.linux import addresses
from harness.environments.linux import packet_socket as bpf
from harness.environments.linux.packet_socket import HeaderRing, PacketSocketRefused
from harness.environments.world import WorldError
from harness.levers import Flow
from harness.sightings import ConnectionSightings

PacketKind = Literal["any", "syn", "data", "fin", "refusal"]
"""`syn`: a SYN without ACK; `data`: a segment with payload; `fin`: an orderly end; `refusal`: what answers a SYN for
which nobody listens."""

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
_OUR_PROBES = int.from_bytes(socket.inet_aton(addresses.PROBES))
_ADVERTISED, _MASK = int(addresses.ADVERTISED.network_address), int(addresses.ADVERTISED.netmask)

ANY_CLIENT_TRAFFIC = (
    (bpf.LOAD_BYTE, 0, 0, 9),
    (bpf.JUMP_EQUAL, 0, 18, socket.IPPROTO_TCP),
    (bpf.LOAD_HALF, 0, 0, 6),
    (bpf.JUMP_SET, 16, 0, 0x1FFF),
    (bpf.HEADER_LENGTH, 0, 0, 0),
    (bpf.LOAD_HALF_BEHIND, 0, 0, 2),
    (bpf.JUMP_EQUAL, 0, 5, addresses.PORT),
    (bpf.LOAD_WORD, 0, 0, 16),
    (bpf.AND, 0, 0, _MASK),
    (bpf.JUMP_EQUAL, 0, 10, _ADVERTISED),
    (bpf.LOAD_WORD, 0, 0, 12),
    (bpf.JUMP_EQUAL, 8, 7, _OUR_PROBES),
    (bpf.LOAD_HALF_BEHIND, 0, 0, 0),
    (bpf.JUMP_EQUAL, 0, 6, addresses.PORT),
    (bpf.LOAD_WORD, 0, 0, 12),
    (bpf.AND, 0, 0, _MASK),
    (bpf.JUMP_EQUAL, 0, 3, _ADVERTISED),
    (bpf.LOAD_WORD, 0, 0, 16),
    (bpf.JUMP_EQUAL, 1, 0, _OUR_PROBES),
    bpf.ACCEPT,
    bpf.REJECT,
)
"""Segments between advertised addresses and anybody but the lab's own probes."""

_CLIENT_TRAFFIC = (
    # What a rule copied, or holds and sends on, was seen before.
    (bpf.LOAD_WORD, 0, 0, bpf.MARK),
    (bpf.JUMP_EQUAL, 0, len(ANY_CLIENT_TRAFFIC) - 1, 0),
    *ANY_CLIENT_TRAFFIC,
)


@dataclass(frozen=True, slots=True)
class _Watch:
    host: str
    flow: Flow
    kind: PacketKind
    at_most: int | None
    seen: ConnectionSightings = field(default_factory=ConnectionSightings)


@dataclass(frozen=True, slots=True)
class Segment:
    """What is known of a TCP segment."""

    source: str
    source_port: int
    target: str
    target_port: int
    sequence_number: int
    acknowledged: int
    flags: int
    payload_bytes: int

    @classmethod
    def parse(cls, packet: bytes) -> "Segment":
        """From the IP header on (RFC 791, RFC 9293)."""
        behind = 4 * (packet[0] & 0x0F)
        source_port, target_port, number, acknowledged = struct.unpack_from("!HHII", packet, behind)
        (total,) = struct.unpack_from("!H", packet, 2)
        return cls(
            source=socket.inet_ntoa(packet[12:16]),
            source_port=source_port,
            target=socket.inet_ntoa(packet[16:20]),
            target_port=target_port,
            sequence_number=number,
            acknowledged=acknowledged,
            flags=packet[behind + 13],
            payload_bytes=total - behind - 4 * (packet[behind + 12] >> 4),
        )

    def is_a(self, kind: PacketKind) -> bool:
        match kind:
            case "any":
                return True
            case "syn":
                return self.flags & (SYN | ACK) == SYN
            case "data":
                return self.payload_bytes > 0 and not self.flags & RST
            case "fin":
                return self.flags & (FIN | RST) == FIN
            case "refusal":
                return self.flags & (FIN | SYN | RST | ACK) == RST | ACK and self.sequence_number == 0


class TrafficCapture:
    """Watches links between the client and advertised addresses, in the network namespace and on the loop in which it
    is first used."""

    def __init__(self) -> None:
        self._socket: HeaderRing | None = None
        self._watches: list[_Watch] = []

    @contextmanager
    def watch(
        self, host: str, flow: Flow, kind: PacketKind, *, at_most: int | None = None
    ) -> Iterator[ConnectionSightings]:
        """See the packets of one link while the context is entered; no more than the first `at_most`.

        Raises WorldError.
        """
        if self._socket is None:
            try:
                self._socket = HeaderRing(_CLIENT_TRAFFIC)
            except PacketSocketRefused as exc:
                raise WorldError("wire-unseen", str(exc)) from exc
            self._socket.call_when_seen(self.read)
        watch = _Watch(host, flow, kind, at_most)
        self._watches.append(watch)
        self._socket.attach(_CLIENT_TRAFFIC)
        try:
            yield watch.seen
        finally:
            self.read()
            self._watches.remove(watch)
            if not self._watches:
                # Closing it would make the kernel wait for all processors, and the run with it.
                self._socket.attach((bpf.REJECT,))

    def read(self) -> None:
        """Take what the kernel has seen so far."""
        if self._socket is not None:
            for packet, at_ns in self._socket.read():
                self._take(Segment.parse(packet), at_ns)

    def _take(self, segment: Segment, at_ns: int) -> None:
        for watch in self._watches:
            to_broker = watch.flow == "to_broker"
            host, port = (segment.target, segment.source_port) if to_broker else (segment.source, segment.target_port)
            full = watch.at_most is not None and watch.seen.packets() >= watch.at_most
            if host == watch.host and segment.is_a(watch.kind) and not full:
                watch.seen.add(port, at_ns)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
