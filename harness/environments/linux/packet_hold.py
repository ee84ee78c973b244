"""Dials that are held for as long as a lever says, to the part of a millisecond, without a module of the kernel.

A rule takes each SYN out of the way and copies it, marked, to a packet socket here. When its delay is over it is sent
on by a raw socket (raw(7)), with a mark that lets it pass the rule. The kernel that dials sees a slow path: what it
sends again meanwhile vanishes.
"""

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush

from harness.environments.linux import addresses
from harness.environments.linux import packet_socket as bpf
from harness.environments.linux.exact_timer import ExactTimer
from harness.environments.linux.packet_socket import PacketSocket, PacketSocketRefused
from harness.environments.linux.packets import (
    COPIES,
    HELD_COPY,
    TREAT,
    PacketTable,
    RuleGroup,
    copies_dropped,
    rules_that_hold,
)
from harness.environments.world import WorldError
from harness.levers import Delays, FilterPackets
from harness.sightings import Sightings

_SO_MARK = 36
_CHECKSUM_OF_TCP_AT = 16

_Dial = bytes
"""Addresses, ports and sequence number of a SYN: those that are sent again have the same."""


class PacketHold:
    """Holds what the rule of this number marks. `seen` has when each dial came."""

    def __init__(self, number: int, delays: Delays, packets: PacketSocket) -> None:
        self.number = number
        self.seen = Sightings()
        self._delays: Iterator[float] = iter(delays)
        self._packets = packets
        self._known: set[_Dial] = set()
        self._held: dict[_Dial, bytes] = {}
        self._due: list[tuple[int, _Dial]] = []
        self._failed: OSError | None = None
        self._timer = ExactTimer(self._deliver_due)
        self._out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self._out.setsockopt(socket.SOL_SOCKET, _SO_MARK, number)
        self._packets.attach(
            (
                # On loopback each packet is seen twice: as it leaves, and as it comes.
                (bpf.LOAD_WORD, 0, 0, bpf.PACKET_KIND),
                (bpf.JUMP_EQUAL, 2, 0, bpf.OUTGOING),
                (bpf.LOAD_WORD, 0, 0, bpf.MARK),
                (bpf.JUMP_EQUAL, 1, 0, HELD_COPY | number),
                bpf.REJECT,
                bpf.ACCEPT,
            )
        )
        asyncio.get_running_loop().add_reader(self._packets, self.read)

    def read(self) -> None:
        """Take what has come so far, and deliver what is due."""
        for packet, at_ns in self._packets.read():
            behind = 4 * (packet[0] & 0x0F)
            dial = packet[12:20] + packet[behind : behind + 8]
            if dial not in self._known:
                self._known.add(dial)
                self.seen.add(at_ns)
                self._held[dial] = _with_checksum(packet)
                heappush(self._due, (at_ns + round(next(self._delays) * 1e9), dial))
            elif dial not in self._held:
                self._send(_with_checksum(packet))
        self._deliver_due()

    def require_all(self) -> None:
        """Raises WorldError where a dial was lost instead of held."""
        self.read()
        missed = self._packets.missed()
        if missed or self._failed:
            why = f"{missed} came faster than they could be held" if missed else str(self._failed)
            raise WorldError("packets-lost", f"dials were lost that were to be delayed: {why}")

    def end(self) -> PacketSocket:
        """Deliver all that is held at once. Returns its packet socket, which sees nothing any more."""
        self.read()
        asyncio.get_running_loop().remove_reader(self._packets)
        self._packets.attach((bpf.REJECT,))
        for packet in self._held.values():
            self._send(packet)
        self._timer.close()
        self._out.close()
        return self._packets

    def _deliver_due(self) -> None:
        while self._due and self._due[0][0] <= time.monotonic_ns():
            self._send(self._held.pop(heappop(self._due)[1]))
        if self._due:
            self._timer.set(self._due[0][0])

    def _send(self, packet: bytes) -> None:
        try:
            self._out.sendto(packet, (socket.inet_ntoa(packet[16:20]), 0))
        except PermissionError:
            pass  # a rule where packets leave has dropped it
        except OSError as exc:
            self._failed = exc


class PacketHolds:
    """All holds of one network namespace, `made` so far: the number of the latest. A later one also holds what an
    earlier one has sent on: delays add up."""

    def __init__(self, table: PacketTable) -> None:
        self._table = table
        self.made = 0
        self._idle: list[PacketSocket] = []

    @asynccontextmanager
    async def holding(self, lever: FilterPackets) -> AsyncIterator[tuple[PacketHold, RuleGroup]]:
        """Hold what the lever delays while the context is entered; the rules' own count is that of SYNs.

        Raises WorldError, PacketRuleError.
        """
        assert lever.delays is not None, "a lever that delays says by how much"
        self.made += 1
        hold = PacketHold(self.made, lever.delays, self._packet_socket())
        rules = rules_that_hold(lever, *addresses.advertised_address(lever.broker), hold.number)
        copies = await self._table.add(COPIES, [copies_dropped()])
        try:
            group = await self._table.add(TREAT, [rule.expressions for rule in rules])
            try:
                yield hold, group
            finally:
                await group.remove()
        finally:
            self._idle.append(hold.end())
            await copies.remove()

    def close(self) -> None:
        for idle in self._idle:
            idle.close()

    def _packet_socket(self) -> PacketSocket:
        """One that is not in use: to close one makes the kernel wait for all processors, and the run with it."""
        try:
            return self._idle.pop() if self._idle else PacketSocket((bpf.REJECT,))
        except PacketSocketRefused as exc:
            raise WorldError("wire-unseen", str(exc)) from exc


def _with_checksum(packet: bytes) -> bytes:
    """The packet with TCP's checksum (RFC 9293, 3.1): on loopback the kernel leaves it to a network card."""
    behind = 4 * (packet[0] & 0x0F)
    at = behind + _CHECKSUM_OF_TCP_AT
    segment = packet[behind:at] + b"\0\0" + packet[at + 2 :]
    pseudo = packet[12:20] + struct.pack("!HH", socket.IPPROTO_TCP, len(segment))
    number = int.from_bytes(pseudo + segment + b"\0" * (len(segment) % 2)) % 0xFFFF
    return packet[:at] + struct.pack("!H", 0xFFFF - number) + packet[at + 2 :]
