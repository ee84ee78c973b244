"""The packets on both sides of the brokers' proxies in a cell: what went in, and what came out again.

A packet socket of its own, opened with the first toxic that needs it; its filter lets nothing through while none does.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from harness.environments.linux import addresses
from harness.environments.linux import packet_socket as bpf
from harness.environments.linux.packet_socket import HeaderRing, PacketSocketRefused
from harness.environments.passage import ProxyPassage
from harness.environments.proxy_connection import ProxyPacket, Side
from harness.environments.world import WorldError
from harness.levers import Flow

_FIN, _SYN, _RST, _ACK = 0x01, 0x02, 0x04, 0x10
_OUR_PROBES = int.from_bytes(socket.inet_aton(addresses.PROBES))

_PROXY_TRAFFIC = (
    # What a rule copied, or holds and sends on, was seen before.
    (bpf.LOAD_WORD, 0, 0, bpf.MARK),
    (bpf.JUMP_EQUAL, 0, 14, 0),
    (bpf.LOAD_BYTE, 0, 0, 9),
    (bpf.JUMP_EQUAL, 0, 12, socket.IPPROTO_TCP),
    (bpf.LOAD_HALF, 0, 0, 6),
    (bpf.JUMP_SET, 10, 0, 0x1FFF),
    (bpf.HEADER_LENGTH, 0, 0, 0),
    (bpf.LOAD_HALF_BEHIND, 0, 0, 2),
    (bpf.JUMP_EQUAL, 0, 2, addresses.PORT),
    (bpf.LOAD_WORD, 0, 0, 12),
    (bpf.JUMP_EQUAL, 5, 4, _OUR_PROBES),
    (bpf.LOAD_HALF_BEHIND, 0, 0, 0),
    (bpf.JUMP_EQUAL, 0, 3, addresses.PORT),
    (bpf.LOAD_WORD, 0, 0, 16),
    (bpf.JUMP_EQUAL, 1, 0, _OUR_PROBES),
    bpf.ACCEPT,
    bpf.REJECT,
)
"""Segments from and to brokers and their proxies, but for those of the lab's own probes."""


class ProxyCapture:
    """Watches proxies, in the network namespace and on the loop in which it is first used."""

    def __init__(self) -> None:
        self._socket: HeaderRing | None = None
        self._watched: list[tuple[dict[str, Side], ProxyPassage]] = []

    @contextmanager
    def watch(self, broker: int, flow: Flow) -> Iterator[ProxyPassage]:
        """See what passes a broker's proxy while the context is entered. Raises WorldError."""
        if self._socket is None:
            try:
                self._socket = HeaderRing(_PROXY_TRAFFIC)
            except PacketSocketRefused as exc:
                raise WorldError("wire-unseen", str(exc)) from exc
            self._socket.call_when_seen(self.read)
        sides: dict[str, Side] = {
            addresses.advertised_address(broker)[0]: "client",
            addresses.broker(broker)[0]: "broker",
        }
        watched = sides, ProxyPassage(flow, self.read)
        self._watched.append(watched)
        self._socket.attach(_PROXY_TRAFFIC)
        try:
            yield watched[1]
        finally:
            self.read()
            self._watched.remove(watched)
            if not self._watched:
                # Closing it would make the kernel wait for all processors, and the run with it.
                self._socket.attach((bpf.REJECT,))

    def read(self) -> None:
        """Take what the kernel has seen so far."""
        if self._socket is not None:
            for packet, at_ns in self._socket.read():
                self._take(packet, at_ns)

    def _take(self, packet: bytes, at_ns: int) -> None:
        """From the IP header on (RFC 791, RFC 9293)."""
        source, target = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
        for sides, passage in self._watched:
            server = target if target in sides else source
            if server in sides:
                flow: Flow = "to_broker" if server == target else "to_client"
                passage.look_at(_parsed(packet, sides[server], flow, at_ns))

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _parsed(packet: bytes, side: Side, flow: Flow, at_ns: int) -> ProxyPacket:
    behind = 4 * (packet[0] & 0x0F)
    source_port, target_port, seq, ack = struct.unpack_from("!HHII", packet, behind)
    (total,) = struct.unpack_from("!H", packet, 2)
    flags, payload = packet[behind + 13], behind + 4 * (packet[behind + 12] >> 4)
    return ProxyPacket(
        side=side,
        port=source_port if flow == "to_broker" else target_port,
        flow=flow,
        seq=seq,
        ack=ack if flags & (_ACK | _RST) == _ACK else None,
        length=total - payload,
        head=packet[payload:],
        opens=bool(flags & _SYN),
        ends=bool(flags & (_FIN | _RST)),
        at_ns=at_ns,
    )
