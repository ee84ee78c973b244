"""Packets that are held for as long as a lever says, to the part of a millisecond, without a module of the kernel.

A rule takes each packet out of the way and copies it, marked, to a packet socket here. When its delay is over it is
sent on by a raw socket (raw(7)), with a mark that lets it pass the rule. Both kernels see nothing but a slow path. Of a
dial it may be the first SYN alone that is held: what its kernel sends again meanwhile vanishes.
"""

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush

from harness.environments.linux import addresses
from harness.environments.linux import packet_socket as bpf
from harness.environments.linux.exact_timer import ExactTimer
from harness.environments.linux.packet_socket import PacketSocketRefused, WholePackets
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
from harness.levers import FilterPackets
from harness.sightings import Sightings, is_within

_SO_MARK = 36
_CHECKSUM_OF_TCP_AT = 16

_LATE_NS = 10_000_000
_LATE_SHARE = 0.01
_MANY = 1_000
"""A hold that has so many packets sends no more than this share of them on later than so."""

CountSince = Callable[[int, int], int]
"""How many packets of a connection, known by its client's port, came since a moment of the monotonic clock."""


class PacketHold:
    """Holds what the rule of this number marks, each packet for a delay of its own.

    Packets that are held by chance may be overtaken by others of their connection; all others are sent on in the order
    in which they came. `late_ns`: for how long any packet was due and not sent yet.
    """

    def __init__(self, number: int, lever: FilterPackets, packets: WholePackets, came_since: CountSince) -> None:
        assert lever.delays is not None, "a lever that delays says by how much"
        self.number = number
        self._seen = Sightings()
        self._delays: Iterator[float] = iter(lever.delays)
        self._in_order = not lever.reorders and lever.only != "syn"
        self._came_since = came_since if lever.reorders else None
        self._client_port_at = 0 if lever.flow == "to_broker" else 2
        self._packets = packets
        self._due: list[tuple[int, int, int, bytes]] = []
        self._latest_ns = self._missed = self._sent_ns = self.late_ns = 0
        self._taken = self._late = 0
        self._failed: OSError | None = None
        self._timer = ExactTimer(self._deliver_due)
        self._out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self._out.setsockopt(socket.SOL_SOCKET, _SO_MARK, number)
        self._packets.attach(bpf.arriving_with(HELD_COPY | number))
        asyncio.get_running_loop().add_reader(self._packets, self.read)

    def read(self) -> None:
        """Take what has come so far, and deliver what is due."""
        for packet, at_ns in self._packets.read():
            self._take(packet, at_ns)
        self._deliver_due()

    def require_all(self) -> None:
        """Raises WorldError where packets were lost, or came too fast to be sent on when they were due."""
        self.read()
        self._missed += self._packets.missed()
        if self._missed or self._failed:
            why = f"{self._missed} came faster than they could be held" if self._missed else str(self._failed)
            raise WorldError("packets-lost", f"packets were lost that were to be delayed: {why}")
        if self._taken >= _MANY and self._late > _LATE_SHARE * self._taken:
            raise WorldError(
                "packets-late",
                f"{self._late} of {self._taken} packets were sent on more than {_LATE_NS / 1e6:g} ms late: this "
                "machine cannot hold so many",
            )

    def count(self, since_ns: int | None, until_ns: int | None) -> int:
        """How many packets came in an interval; of those that are held by chance, how many others have overtaken, also
        while they are held still: what is sent on when the hold ends comes too late to tell."""
        held = [(packet, at_ns) for _, _, at_ns, packet in self._due if is_within(at_ns, since_ns, until_ns)]
        return self._seen.count(since_ns, until_ns) + sum(self._is_overtaken(*each) for each in held)

    def end(self) -> WholePackets:
        """Deliver all that is held at once. Returns its packet socket, which sees nothing any more."""
        self.read()
        asyncio.get_running_loop().remove_reader(self._packets)
        self._packets.attach((bpf.REJECT,))
        while self._due:
            _, _, at_ns, packet = heappop(self._due)
            self._deliver(packet, at_ns)
        self._timer.close()
        self._out.close()
        return self._packets

    def _take(self, packet: bytes, at_ns: int) -> None:
        if self._came_since is None:
            self._seen.add(at_ns)
        due_ns = at_ns + round(next(self._delays) * 1e9)
        if self._in_order:
            due_ns = self._latest_ns = max(due_ns, self._latest_ns)
        self._taken += 1
        # Now, so that those that are due together are sent without delay.
        heappush(self._due, (due_ns, self._taken, at_ns, _with_checksum(packet)))

    def _deliver_due(self) -> None:
        while self._due and self._due[0][0] <= (now_ns := time.monotonic_ns()):
            due_ns, _, at_ns, packet = heappop(self._due)
            self._late += now_ns - due_ns > _LATE_NS
            self.late_ns += now_ns - max(due_ns, self._sent_ns)
            self._sent_ns = now_ns
            self._deliver(packet, at_ns)
        if self._due:
            self._timer.set(self._due[0][0])

    def _deliver(self, packet: bytes, at_ns: int) -> None:
        if self._is_overtaken(packet, at_ns):
            self._seen.add(at_ns)
        self._send(packet)

    def _is_overtaken(self, packet: bytes, at_ns: int) -> bool:
        if self._came_since is None:
            return False
        port = self._client_port(packet)
        held_too = sum(later_ns > at_ns and self._client_port(later) == port for _, _, later_ns, later in self._due)
        return self._came_since(port, at_ns) > held_too

    def _client_port(self, packet: bytes) -> int:
        at = 4 * (packet[0] & 0x0F) + self._client_port_at
        return int.from_bytes(packet[at : at + 2])

    def _send(self, packet: bytes) -> None:
        try:
            self._out.sendto(packet, (socket.inet_ntoa(packet[16:20]), 0))
        except PermissionError:
            pass  # a rule where packets leave has dropped it
        except OSError as exc:
            self._failed = exc


class DialHold(PacketHold):
    """Holds dials: the first SYN of each. Those that are sent again vanish until it has been delivered, then pass."""

    def __init__(self, number: int, lever: FilterPackets, packets: WholePackets, came_since: CountSince) -> None:
        super().__init__(number, lever, packets, came_since)
        self._known: set[bytes] = set()
        self._held: set[bytes] = set()

    def _take(self, packet: bytes, at_ns: int) -> None:
        dial = _dial(packet)
        if dial not in self._known:
            self._known.add(dial)
            self._held.add(dial)
            super()._take(packet, at_ns)
        elif dial not in self._held:
            self._send(_with_checksum(packet))

    def _deliver(self, packet: bytes, at_ns: int) -> None:
        self._held.discard(_dial(packet))
        super()._deliver(packet, at_ns)


class PacketHolds:
    """All holds of one network namespace, `made` so far: the number of the latest. A later one also holds what an
    earlier one has sent on: delays add up."""

    def __init__(self, table: PacketTable) -> None:
        self._table = table
        self.made = 0
        self._holds: list[PacketHold] = []
        self._idle: list[WholePackets] = []

    def next_number(self) -> int:
        """For a rule that sends packets on: those of later numbers treat them, it and those before do not."""
        self.made += 1
        return self.made

    def late_s(self) -> float:
        """For how long packets were due and not sent on yet, so far."""
        return sum(hold.late_ns for hold in self._holds) / 1e9

    @asynccontextmanager
    async def holding(
        self, lever: FilterPackets, came_since: CountSince = lambda *_: 0
    ) -> AsyncIterator[tuple[PacketHold, RuleGroup]]:
        """Hold what the lever delays while the context is entered; the rules' own count is that of packets.

        Raises WorldError, PacketRuleError.
        """
        kind = DialHold if lever.only == "syn" else PacketHold
        hold = kind(self.next_number(), lever, self._packet_socket(), came_since)
        self._holds.append(hold)
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

    def _packet_socket(self) -> WholePackets:
        """One that is not in use: to close one makes the kernel wait for all processors, and the run with it."""
        try:
            return self._idle.pop() if self._idle else WholePackets((bpf.REJECT,))
        except PacketSocketRefused as exc:
            raise WorldError("wire-unseen", str(exc)) from exc


def _dial(syn: bytes) -> bytes:
    """Addresses, ports and sequence number of a SYN: those that are sent again have the same."""
    behind = 4 * (syn[0] & 0x0F)
    return syn[12:20] + syn[behind : behind + 8]


def _with_checksum(packet: bytes) -> bytes:
    """The packet with TCP's checksum (RFC 9293, 3.1): on loopback the kernel leaves it to a network card."""
    behind = 4 * (packet[0] & 0x0F)
    at = behind + _CHECKSUM_OF_TCP_AT
    segment = packet[behind:at] + b"\0\0" + packet[at + 2 :]
    pseudo = packet[12:20] + struct.pack("!HH", socket.IPPROTO_TCP, len(segment))
    number = int.from_bytes(pseudo + segment + b"\0" * (len(segment) % 2)) % 0xFFFF
    return packet[:at] + struct.pack("!H", 0xFFFF - number) + packet[at + 2 :]
