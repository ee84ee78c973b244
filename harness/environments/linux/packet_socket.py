"""Packet sockets on loopback: they see packets before any rule on the input hook treats them (packet(7)).

A filter in the kernel leaves nearly everything else out. The kernel stamps what it sees, so that a busy loop makes
nothing late. What observes (`HeaderRing`) is therefore read some time later: reading at once would take a processor
from the very processes that are observed. What holds packets (`WholePackets`) is read at once.
"""

import asyncio
import ctypes
import mmap
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence

_ETH_P_IP = 0x0800
_SO_ATTACH_FILTER = 26
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")
_SOL_PACKET, _PACKET_RX_RING, _PACKET_STATISTICS, _PACKET_VERSION = 263, 5, 6, 10
_STATISTICS = struct.Struct("@II")
_HEADERS, _WHOLE = 128, 65_536
"""How many bytes of a packet are seen: enough for its headers, or for all of it."""
_ROOM_BYTES = 4 << 20
"""For what waits to be read, as far as the kernel gives it (net.core.rmem_max)."""

_VERSION_2 = 1
_SLOT_BYTES, _BLOCK_BYTES, _BLOCKS = 256, 1 << 16, 4
_SLOTS = _BLOCKS * _BLOCK_BYTES // _SLOT_BYTES
_SLOT = struct.Struct("@IIIHHII")
"""The head of a slot (tpacket2_hdr in the kernel's Documentation/networking/packet_mmap.rst): status, length of the
packet, bytes of it that are here, where its frame and its IP header begin, seconds, nanoseconds."""
_STATUS = struct.Struct("@I")
_FREE, _TAKEN = 0, 1
_READ_LATER_S = 0.01
"""The bursts in which a client dials or is answered are over by then, and the ring of 1,024 packets is not full."""

LOAD_BYTE, LOAD_HALF, LOAD_WORD = 0x30, 0x28, 0x20
LOAD_BYTE_BEHIND, LOAD_HALF_BEHIND = 0x50, 0x48
HEADER_LENGTH = 0xB1
JUMP_EQUAL, JUMP_SET, AND, RETURN = 0x15, 0x45, 0x54, 0x06
MARK = 0xFFFFF014
"""The packet's mark: 0 but for what rules have marked."""

Instruction = tuple[int, int, int, int]
"""Classic BPF (Documentation/networking/filter.rst of the kernel): code, jump if true, jump if false, operand."""
ACCEPT: Instruction = (RETURN, 0, 0, _HEADERS)
ACCEPT_WHOLE: Instruction = (RETURN, 0, 0, _WHOLE)
REJECT: Instruction = (RETURN, 0, 0, 0)


def arriving_with(mark: int) -> tuple[Instruction, ...]:
    """Whole packets with this mark."""
    return (
        (LOAD_WORD, 0, 0, MARK),
        (JUMP_EQUAL, 1, 0, mark),
        REJECT,
        ACCEPT_WHOLE,
    )


class PacketSocketRefused(Exception):
    """The kernel shows no packets; says why."""


class _PacketSocket:
    """Sees from its making on, in the network namespace in which it is made, packets as they come: those that leave are
    shown to sockets of all protocols alone. Raises PacketSocketRefused."""

    def __init__(self, program: Sequence[Instruction]) -> None:
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            self._socket.setblocking(False)
            self._make_room()
            self.attach(program)
            self._socket.bind(("lo", _ETH_P_IP))
        except OSError as exc:
            raise PacketSocketRefused(f"the kernel shows no packets on loopback ({exc}); it needs af_packet") from exc

    def _make_room(self) -> None:
        """Before anything is seen. Raises OSError."""
        raise NotImplementedError

    def fileno(self) -> int:
        return self._socket.fileno()

    def attach(self, program: Sequence[Instruction]) -> None:
        """Filter by this program from now on. Raises OSError."""
        lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
        # The kernel copies the program while it is attached.
        self._socket.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(lines))
        )

    def missed(self) -> int:
        """Packets that came faster than they were read, since this was last asked."""
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        return int(_STATISTICS.unpack(statistics)[1])

    def close(self) -> None:
        self._socket.close()


class WholePackets(_PacketSocket):
    """Every byte of what it sees."""

    def _make_room(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM_BYTES)

    def read(self) -> Iterator[tuple[bytes, int]]:
        """Every packet that waits, from its IP header on, and when the kernel saw it (CLOCK_MONOTONIC, ns)."""
        ahead_ns = time.time_ns() - time.monotonic_ns()
        while True:
            try:
                segment, stamps, _, _ = self._socket.recvmsg(_WHOLE, 64)
            except BlockingIOError:
                return
            seconds, nanoseconds = next(_TIMESPEC.unpack(data) for _, kind, data in stamps if kind == _SO_TIMESTAMPNS)
            yield segment, seconds * 1_000_000_000 + nanoseconds - ahead_ns


class HeaderRing(_PacketSocket):
    """The headers of what it sees, which the kernel writes into memory that it shares with this process."""

    def __init__(self, program: Sequence[Instruction]) -> None:
        super().__init__(program)
        self._next = 0
        self._later: asyncio.TimerHandle | None = None

    def _make_room(self) -> None:
        self._socket.setsockopt(_SOL_PACKET, _PACKET_VERSION, _VERSION_2)
        shape = struct.pack("@IIII", _BLOCK_BYTES, _BLOCKS, _SLOT_BYTES, _SLOTS)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_RX_RING, shape)
        self._ring = mmap.mmap(self._socket.fileno(), _BLOCKS * _BLOCK_BYTES)

    def call_when_seen(self, callback: Callable[[], None]) -> None:
        """On the running loop, some milliseconds after packets have come, until it is closed; `callback` reads them."""
        loop = asyncio.get_running_loop()

        def seen() -> None:
            loop.remove_reader(self)
            self._later = loop.call_later(_READ_LATER_S, read)

        def read() -> None:
            self._later = None
            callback()
            loop.add_reader(self, seen)

        loop.add_reader(self, seen)

    def read(self) -> Iterator[tuple[bytes, int]]:
        """Every packet that waits, from its IP header on, and when the kernel saw it (CLOCK_MONOTONIC, ns)."""
        ahead_ns = time.time_ns() - time.monotonic_ns()
        while True:
            at = self._next * _SLOT_BYTES
            status, _, seen, _, header, seconds, nanoseconds = _SLOT.unpack_from(self._ring, at)
            if not status & _TAKEN:
                return
            packet = self._ring[at + header : at + header + seen]
            _STATUS.pack_into(self._ring, at, _FREE)
            self._next = (self._next + 1) % _SLOTS
            yield packet, seconds * 1_000_000_000 + nanoseconds - ahead_ns

    def close(self) -> None:
        if self._later is not None:
            self._later.cancel()
        else:
            asyncio.get_running_loop().remove_reader(self)
        self._ring.close()
        super().close()
