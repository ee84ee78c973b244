"""A packet socket on loopback: sees packets before any rule on the input hook treats them (packet(7)).

A filter in the kernel leaves nearly everything else out. The kernel stamps what it sees, so that a busy loop makes
nothing late.
"""

import ctypes
import socket
import struct
import time
from collections.abc import Iterator, Sequence

_ETH_P_IP = 0x0800
_SO_ATTACH_FILTER = 26
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_STATISTICS = struct.Struct("@II")
HEADERS, WHOLE = 128, 65_536
"""How many bytes of a packet are seen: enough for its headers, or for all of it."""
_ROOM_BYTES = 4 << 20
"""For what waits to be read, as far as the kernel gives it (net.core.rmem_max)."""

LOAD_BYTE, LOAD_HALF, LOAD_WORD = 0x30, 0x28, 0x20
LOAD_BYTE_BEHIND, LOAD_HALF_BEHIND = 0x50, 0x48
HEADER_LENGTH = 0xB1
JUMP_EQUAL, JUMP_SET, AND, RETURN = 0x15, 0x45, 0x54, 0x06
PACKET_KIND, OUTGOING = 0xFFFFF004, 4
MARK = 0xFFFFF014
"""The packet's mark: 0 but for what rules have marked."""

Instruction = tuple[int, int, int, int]
"""Classic BPF (Documentation/networking/filter.rst of the kernel): code, jump if true, jump if false, operand."""
ACCEPT: Instruction = (RETURN, 0, 0, HEADERS)
ACCEPT_WHOLE: Instruction = (RETURN, 0, 0, WHOLE)
REJECT: Instruction = (RETURN, 0, 0, 0)


def arriving_with(mark: int) -> tuple[Instruction, ...]:
    """Whole packets with this mark. Loopback shows each packet twice, as it leaves and as it comes: the latter."""
    return (
        (LOAD_WORD, 0, 0, PACKET_KIND),
        (JUMP_EQUAL, 2, 0, OUTGOING),
        (LOAD_WORD, 0, 0, MARK),
        (JUMP_EQUAL, 1, 0, mark),
        REJECT,
        ACCEPT_WHOLE,
    )


class PacketSocketRefused(Exception):
    """The kernel shows no packets; says why."""


class PacketSocket:
    """Sees from its making on, in the network namespace in which it is made: `most_bytes` of each packet.

    Raises PacketSocketRefused.
    """

    def __init__(self, program: Sequence[Instruction], most_bytes: int = HEADERS) -> None:
        self._most_bytes = most_bytes
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            if most_bytes > HEADERS:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM_BYTES)
            self.attach(program)
            self._socket.bind(("lo", _ETH_P_IP))
        except OSError as exc:
            raise PacketSocketRefused(f"the kernel shows no packets on loopback ({exc}); it needs af_packet") from exc

    def fileno(self) -> int:
        return self._socket.fileno()

    def attach(self, program: Sequence[Instruction]) -> None:
        """Filter by this program from now on. Raises OSError."""
        lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
        # The kernel copies the program while it is attached.
        self._socket.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(lines))
        )

    def read(self) -> Iterator[tuple[bytes, int]]:
        """Every packet that waits, from its IP header on, and when the kernel saw it (CLOCK_MONOTONIC, ns)."""
        ahead_ns = time.time_ns() - time.monotonic_ns()
        while True:
            try:
                segment, stamps, _, _ = self._socket.recvmsg(self._most_bytes, 64)
            except BlockingIOError:
                return
            seconds, nanoseconds = next(_TIMESPEC.unpack(data) for _, kind, data in stamps if kind == _SO_TIMESTAMPNS)
            yield segment, seconds * 1_000_000_000 + nanoseconds - ahead_ns

    def missed(self) -> int:
        """Packets that came faster than they were read, since this was last asked."""
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        return int(_STATISTICS.unpack(statistics)[1])

    def close(self) -> None:
        self._socket.close()
