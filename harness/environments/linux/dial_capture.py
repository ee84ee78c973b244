"""Dials as the wire shows them: the SYNs that come to advertised addresses, whoever sends them and says so or not.

A packet socket sees them before any rule treats them (packet(7)); a filter in the kernel leaves nearly everything else
out. The kernel stamps what it sees, so that a busy loop makes no dial late.
"""

import asyncio
import ctypes
import socket
import struct
import time
from ipaddress import IPv4Address

from harness.environments.linux import addresses
from harness.environments.world import Dial

_ETH_P_IP = 0x0800
_SO_ATTACH_FILTER = 26
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_STATISTICS = struct.Struct("@II")
_SEGMENT = 128

_LOAD_BYTE, _LOAD_HALF, _LOAD_WORD = 0x30, 0x28, 0x20
_LOAD_BYTE_BEHIND, _LOAD_HALF_BEHIND = 0x50, 0x48
_HEADER_LENGTH = 0xB1
_JUMP_EQUAL, _JUMP_SET, _AND, _RETURN = 0x15, 0x45, 0x54, 0x06
_PACKET_KIND, _OUTGOING = 0xFFFFF004, 4
_SYN, _SYN_OR_ACK = 0x02, 0x12

_FILTER = (
    # On loopback each packet is seen twice: as it leaves, and as it comes.
    (_LOAD_WORD, 0, 0, _PACKET_KIND),
    (_JUMP_EQUAL, 11, 0, _OUTGOING),
    (_LOAD_BYTE, 0, 0, 9),
    (_JUMP_EQUAL, 0, 9, socket.IPPROTO_TCP),
    (_LOAD_HALF, 0, 0, 6),
    (_JUMP_SET, 7, 0, 0x1FFF),
    (_HEADER_LENGTH, 0, 0, 0),
    (_LOAD_BYTE_BEHIND, 0, 0, 13),
    (_AND, 0, 0, _SYN_OR_ACK),
    (_JUMP_EQUAL, 0, 3, _SYN),
    (_LOAD_HALF_BEHIND, 0, 0, 2),
    (_JUMP_EQUAL, 0, 1, addresses.PORT),
    (_RETURN, 0, 0, _SEGMENT),
    (_RETURN, 0, 0, 0),
)
"""Classic BPF (Documentation/networking/filter.rst of the kernel): code, jump if true, jump if false, operand."""


class DialCaptureFailed(Exception):
    """The kernel shows no packets, or showed more than were taken; says which."""


class DialCapture:
    """Sees from its making on, in the network namespace in which it is made, on the running loop. Raises
    DialCaptureFailed."""

    def __init__(self) -> None:
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            _attach(self._socket)
            self._socket.bind(("lo", _ETH_P_IP))
        except OSError as exc:
            raise DialCaptureFailed(f"the kernel shows no packets on loopback ({exc}); it needs af_packet") from exc
        self._dials: dict[tuple[str, int, str, int], Dial] = {}
        self._missed = 0
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._read)

    def dials(self) -> tuple[Dial, ...]:
        """All so far, in the order in which they were seen. The lab's own probes are none.

        Raises DialCaptureFailed where some were missed.
        """
        self._read()
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        self._missed += _STATISTICS.unpack(statistics)[1]
        if self._missed:
            raise DialCaptureFailed(f"{self._missed} dials came faster than they could be counted")
        return tuple(self._dials.values())

    def _read(self) -> None:
        ahead_ns = time.time_ns() - time.monotonic_ns()
        while True:
            try:
                segment, stamps, _, _ = self._socket.recvmsg(_SEGMENT, 64)
            except BlockingIOError:
                return
            seconds, nanoseconds = next(_TIMESPEC.unpack(data) for _, kind, data in stamps if kind == _SO_TIMESTAMPNS)
            self._take(segment, seconds * 1_000_000_000 + nanoseconds - ahead_ns)

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
        self._loop.remove_reader(self._socket)
        self._socket.close()


def _attach(to: socket.socket) -> None:
    """The kernel copies the program while it is attached."""
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in _FILTER))
    to.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", len(_FILTER), ctypes.addressof(program)))
