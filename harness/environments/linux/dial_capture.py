"""Dials as the wire shows them: the SYNs sent to advertised addresses, by any process."""

import socket
import struct
from ipaddress import IPv4Address

from harness.environments.linux import addresses
from harness.environments.linux import packet_socket as bpf
from harness.environments.linux.packet_socket import HeaderRing, PacketSocketRefused
from harness.environments.world import Dial

_SYN, _SYN_OR_ACK = 0x02, 0x12

_FILTER = (
    # What a rule holds was seen before.
    (bpf.LOAD_WORD, 0, 0, bpf.MARK),
    (bpf.JUMP_EQUAL, 0, 11, 0),
    (bpf.LOAD_BYTE, 0, 0, 9),
    (bpf.JUMP_EQUAL, 0, 9, socket.IPPROTO_TCP),
    (bpf.LOAD_HALF, 0, 0, 6),
    (bpf.JUMP_SET, 7, 0, 0x1FFF),
    (bpf.HEADER_LENGTH, 0, 0, 0),
    (bpf.LOAD_BYTE_BEHIND, 0, 0, 13),
    (bpf.AND, 0, 0, _SYN_OR_ACK),
    (bpf.JUMP_EQUAL, 0, 3, _SYN),
    (bpf.LOAD_HALF_BEHIND, 0, 0, 2),
    (bpf.JUMP_EQUAL, 0, 1, addresses.PORT),
    bpf.ACCEPT,
    bpf.REJECT,
)


class DialCaptureFailed(Exception):
    """The kernel shows no packets, or showed more than were taken; says which."""


class DialCapture:
    """Sees from its making on, in the network namespace in which it is made, on the running loop. Raises
    DialCaptureFailed."""

    def __init__(self) -> None:
        try:
            self._socket = HeaderRing(_FILTER)
        except PacketSocketRefused as exc:
            raise DialCaptureFailed(str(exc)) from exc
        self._dials: dict[tuple[str, int, str, int], Dial] = {}
        self._missed = 0
        self._socket.call_when_seen(self._read)

    def dials(self) -> tuple[Dial, ...]:
        """All so far, in the order in which they were seen, without the lab's own probes.

        Raises DialCaptureFailed where some were missed.
        """
        self._read()
        self._missed += self._socket.missed()
        if self._missed:
            raise DialCaptureFailed(f"{self._missed} dials came faster than they could be counted")
        return tuple(self._dials.values())

    def _read(self) -> None:
        for segment, at_ns in self._socket.read():
            self._take(segment, at_ns)

    def _take(self, segment: bytes, at_ns: int) -> None:
        source, target = socket.inet_ntoa(segment[12:16]), socket.inet_ntoa(segment[16:20])
        behind = 4 * (segment[0] & 0x0F)
        port, _, number = struct.unpack_from("!HHI", segment, behind)
        if source == addresses.PROBES or IPv4Address(target) not in addresses.ADVERTISED:
            return
        # The same SYN sent again has the same number.
        dial = Dial(at_ns=at_ns, address=addresses.text((target, addresses.PORT)), port=port)
        self._dials.setdefault((source, port, target, number), dial)

    def close(self) -> None:
        self._socket.close()
