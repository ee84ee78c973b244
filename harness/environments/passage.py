"""What goes into a broker's proxy and what comes out of it again, on both of its sides: the proof of what toxics do.

The packets of a proxy do not say which of its connections to the client and to the broker belong together. So what
became late is found by order: the last of so many bytes that went in is held against the last of as many that came out.
No other matching has a smaller longest delay, so this is a lower bound.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from harness.brokers.embedded.intercepts import PROBE_CLIENT_ID
from harness.levers import FLOWS, Flow
from harness.levers.toxic import MIN_DELAY_SHARE
from harness.sightings import is_within

Side = Literal["client", "broker"]
"""Whom the proxy talks to on a connection."""

CHUNK_BYTES = 32 * 1024
"""What Toxiproxy reads at most at once (Go, io.Copy): without a toxic, too, it cuts what is longer."""
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


class _Bytes(NamedTuple):
    """New bytes of a stream, up to this offset, in one segment."""

    at_ns: int
    number: int
    end: int


@dataclass(slots=True)
class _Stream:
    """One direction of a connection, by offsets from the first byte that was seen: what was sent, each byte once, and
    how much of it the receiver has acknowledged."""

    base: int | None = None
    sent: int = 0
    acknowledged: int = 0
    parts: list[_Bytes] = field(default_factory=list)

    def send(self, packet: ProxyPacket) -> None:
        end = self._offset(packet.seq) + packet.length
        if packet.length and end > self.sent:  # behind a FIN, which takes a number, comes no byte
            self.parts.append(_Bytes(packet.at_ns, end - self.sent, end))
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

    def arrived(self) -> Iterable[_Bytes]:
        """What its receiver has: packets that were dropped on the way never went into the proxy."""
        return (part for part in self.parts if part.end <= self.acknowledged)


@dataclass(slots=True)
class _Connection:
    side: Side
    streams: dict[Flow, _Stream] = field(default_factory=lambda: {flow: _Stream() for flow in FLOWS})
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


class ProxyPassage:
    """What was seen of one broker's proxy in one flow, the lab's own probes left out.

    Intervals are those in which something went in, or a connection ended.
    """

    def __init__(self, flow: Flow, fetch: Callable[[], None] = lambda: None) -> None:
        """`fetch` hands over to `look_at` what the world has seen and not handed over yet."""
        self._flow = flow
        self._fetch = fetch
        self._connections: dict[tuple[Side, int], _Connection] = {}
        self._now_ns = 0
        self._undone_ns: int | None = None

    def look_at(self, packet: ProxyPacket) -> None:
        key = packet.side, packet.port
        if packet.opens and packet.flow == "to_broker" and not self._is_again(key):
            self._connections[key] = _Connection(packet.side)
        connection = self._connections.get(key)
        if connection is None:
            connection = self._connections[key] = _Connection(packet.side, open=True)
        connection.take(packet)

    def _is_again(self, key: tuple[Side, int]) -> bool:
        known = self._connections.get(key)
        return known is not None and known.ended_ns is None

    def update(self, now_ns: int) -> None:
        """Take what the world has seen up to now."""
        self._fetch()
        self._now_ns = now_ns

    def undo_begins(self, at_ns: int) -> None:
        """The toxic is removed from now on: how connections end then is no work of its. Only the first time counts."""
        self.update(at_ns)
        if self._undone_ns is None:
            self._undone_ns = at_ns

    def held_s(self, since_ns: int | None, until_ns: int | None) -> float:
        """By how much bytes came out later than they went in."""
        entered = sorted(part for stream in self._entering() for part in stream.arrived())
        left = sorted(part for stream in self._leaving() for part in stream.parts)
        moments = [(part.at_ns, place) for part, place in zip(entered, _counted(entered), strict=True)]
        return self._longest_s(moments, left, since_ns, until_ns)

    def paced_s(self, bytes_per_s: float, since_ns: int | None, until_ns: int | None) -> float:
        """By how much bytes came out late as this rate makes them: no sooner than it passes their own segment up to
        them, and for no longer than it takes for all that was inside. What a busy machine keeps is not counted."""
        entered = sorted(part for stream in self._entering() for part in stream.arrived())
        left = sorted(part for stream in self._leaving() for part in stream.parts)
        went_in, came_out, moments = _counted(entered), [0, *_counted(left)], [part.at_ns for part in left]
        longest_s = 0.0
        for part, place in zip(left, came_out[1:], strict=True):
            own = bisect_left(went_in, place)
            if own == len(entered) or not is_within(entered[own].at_ns, since_ns, until_ns):
                continue
            held_s = (part.at_ns - entered[own].at_ns) / 1e9
            in_segment = place - (went_in[own] - entered[own].number)
            inside = place - came_out[bisect_left(moments, entered[own].at_ns)]
            if held_s >= MIN_DELAY_SHARE * in_segment / bytes_per_s:
                longest_s = max(longest_s, min(held_s, inside / bytes_per_s))
        return longest_s

    def withheld(self, longest_s: float, since_ns: int | None, until_ns: int | None) -> int:
        """How many bytes are still in the proxy though their sender gave their connection up, so long after them at
        most."""
        given_up = [one for one in self._of_side(entering=True) if one.ended_by == self._flow]
        waiting = sum(
            part.number
            for connection in given_up
            for part in connection.streams[self._flow].arrived()
            if is_within(part.at_ns, since_ns, until_ns)
            and connection.ended_ns is not None
            and connection.ended_ns - part.at_ns <= longest_s * 1e9
        )
        entered = sum(part.number for stream in self._entering() for part in stream.arrived())
        return min(waiting, max(0, entered - self._number(self._leaving(), None, None)))

    def holds(self, shortest_s: float, longest_s: float, since_ns: int | None, until_ns: int | None) -> bool:
        """Whether bytes are in the proxy still, or were when the toxic was removed, that came so long before."""
        moment_ns = self._now_ns if self._undone_ns is None else self._undone_ns
        entered = sorted(p for stream in self._entering() for p in stream.arrived() if p.at_ns <= moment_ns)
        passed = self._number(self._leaving(), None, moment_ns)
        inside = (part.at_ns for part, place in zip(entered, _counted(entered), strict=True) if place > passed)
        return any(
            shortest_s <= (moment_ns - at_ns) / 1e9 <= longest_s
            for at_ns in inside
            if is_within(at_ns, since_ns, until_ns)
        )

    def end_held_s(self, since_ns: int | None, until_ns: int | None) -> float:
        """By how much connections were ended later than they should. Ends that come out before any has gone in are the
        proxy's own, as of one that is disabled."""
        entered = iter(sorted(self._ends(self._flow, entering=True)))
        next_ns = next(entered, None)
        longest_ns = 0
        for left_ns in sorted(self._ends(self._flow, entering=False)):
            if next_ns is None or next_ns > left_ns:
                continue
            if is_within(next_ns, since_ns, until_ns):
                longest_ns = max(longest_ns, left_ns - next_ns)
            next_ns = next(entered, None)
        return longest_ns / 1e9

    def swallowed(self, since_ns: int | None, until_ns: int | None, timeout_s: float) -> int:
        """How many bytes went in and never came out, on connections that were then left open for `timeout_s`, or for
        good where it is 0."""
        entered = 0
        for connection in self._of_side(entering=True):
            for part in connection.streams[self._flow].arrived():
                met = is_within(part.at_ns, since_ns, until_ns) and self._met(part)
                if met and self._stayed_open(connection, part, timeout_s):
                    entered += part.number
        left = sum(
            part.number
            for stream in self._leaving()
            for part in stream.parts
            if is_within(part.at_ns, since_ns, until_ns) and self._met(part)
        )
        return max(0, entered - left)

    def slices(self, since_ns: int | None, until_ns: int | None) -> int:
        """In how many more segments bytes came out than they went in.

        Segments whose bytes are not acknowledged yet where they went in do not count on either side.
        """
        went_in = [p for stream in self._entering() for p in stream.arrived() if is_within(p.at_ns, since_ns, until_ns)]
        sent = sorted(p for stream in self._leaving() for p in stream.parts if is_within(p.at_ns, since_ns, until_ns))
        entered = sum(part.number for part in went_in)
        came_out = [part for part, place in zip(sent, _counted(sent), strict=True) if place <= entered]
        cut_anyway = sum(part.number for part in came_out) // CHUNK_BYTES
        return max(0, len(came_out) - len(went_in) - cut_anyway)

    def cut_behind(self, limit: int, since_ns: int | None, until_ns: int | None) -> int:
        """How many connections the proxy ended behind so many bytes."""
        behind = [one for one in self._of_side(entering=False) if one.streams[self._flow].sent == limit]
        of_clients = [one for one in self._connections.values() if one.side == "client"]
        return min(sum(self._cut(one, since_ns, until_ns) for one in each) for each in (behind, of_clients))

    def cut_after(self, timeout_s: float, since_ns: int | None, until_ns: int | None) -> int:
        """How many connections the proxy ended so long after their first bytes, also while the toxic was removed.

        Seen where they enter, or behind the proxy where their source had given up before.
        """
        return max(self._cut_entering(timeout_s, since_ns, until_ns), self._cut_leaving(timeout_s, since_ns, until_ns))

    def ending(self, timeout_s: float) -> int:
        """How many connections are open still whose first bytes came at most so long before the toxic was removed."""
        assert self._undone_ns is not None, "ends are waited for where the toxic is removed"
        still_open = [one for one in self._of_side(entering=True) if one.ended_ns is None]
        firsts = [part for one in still_open for part in list(one.streams[self._flow].arrived())[:1]]
        return sum(0 <= self._undone_ns - part.at_ns <= timeout_s * 1e9 for part in firsts)

    def _cut_entering(self, timeout_s: float, since_ns: int | None, until_ns: int | None) -> int:
        found = 0
        for connection in self._of_side(entering=True):
            first = next(iter(connection.streams[self._flow].arrived()), None)
            if first is not None and self._met(first) and self._ended_by_proxy(connection, since_ns, until_ns):
                assert connection.ended_ns is not None
                found += connection.ended_ns - first.at_ns >= timeout_s * 0.9e9
        return found

    def _cut_leaving(self, timeout_s: float, since_ns: int | None, until_ns: int | None) -> int:
        """Of connections that nothing has passed: those that were ended though their source had sent bytes by then, and
        not because it had ended."""
        ends = self._ends(self._flow, entering=True)
        firsts = [part.at_ns for stream in self._entering() for part in list(stream.arrived())[:1] if self._met(part)]
        found = 0
        for connection in self._of_side(entering=False):
            if connection.streams[self._flow].sent or not self._ended_by_proxy(connection, since_ns, until_ns):
                continue
            assert connection.ended_ns is not None
            due_ns = connection.ended_ns - timeout_s * 0.9e9
            passed_on = [at_ns for at_ns in ends if at_ns <= connection.ended_ns and at_ns > due_ns]
            found += not passed_on and any(at_ns <= due_ns for at_ns in firsts)
        return found

    def _cut(self, connection: _Connection, since_ns: int | None, until_ns: int | None) -> bool:
        """Whether the proxy ended it, and nobody else, before the toxic was removed."""
        ended = self._ended_by_proxy(connection, since_ns, until_ns)
        return ended and not (self._undone_ns is not None and (connection.ended_ns or 0) > self._undone_ns)

    @staticmethod
    def _ended_by_proxy(connection: _Connection, since_ns: int | None, until_ns: int | None) -> bool:
        by_proxy: Flow = "to_client" if connection.side == "client" else "to_broker"
        if connection.ended_ns is None or connection.ended_by != by_proxy:
            return False
        return is_within(connection.ended_ns, since_ns, until_ns)

    def _met(self, part: _Bytes) -> bool:
        """Whether bytes came before the toxic was removed."""
        return self._undone_ns is None or part.at_ns <= self._undone_ns

    def _stayed_open(self, connection: _Connection, part: _Bytes, timeout_s: float) -> bool:
        if not self._cut(connection, None, None) or self._passed_on_end(connection):
            return True
        assert connection.ended_ns is not None
        return timeout_s > 0 and connection.ended_ns - part.at_ns >= timeout_s * 0.9e9

    def _passed_on_end(self, connection: _Connection) -> bool:
        """Whether the proxy ended an entering connection because its other half had ended: by then, no more had been
        ended by the proxy here than by their peers there."""
        by_proxy, by_peers = (
            sum(is_within(at_ns, None, connection.ended_ns) for at_ns in self._ends(connection.ended_by, entering=here))
            for here in (True, False)
        )
        return by_proxy <= by_peers

    def _ends(self, flow: Flow | None, *, entering: bool) -> list[int]:
        """When connections ended in a flow: on the side where bytes enter, or where they leave."""
        return [
            connection.ended_ns
            for connection in self._of_side(entering=entering)
            if connection.ended_ns is not None and connection.ended_by == flow
        ]

    def _of_side(self, *, entering: bool) -> list[_Connection]:
        side: Side = "client" if entering == (self._flow == "to_broker") else "broker"
        return [one for one in self._connections.values() if one.side == side and not one.probe]

    def _entering(self) -> list[_Stream]:
        return [connection.streams[self._flow] for connection in self._of_side(entering=True)]

    def _leaving(self) -> list[_Stream]:
        return [connection.streams[self._flow] for connection in self._of_side(entering=False)]

    @staticmethod
    def _number(streams: Iterable[_Stream], since_ns: int | None, until_ns: int | None) -> int:
        return sum(p.number for stream in streams for p in stream.parts if is_within(p.at_ns, since_ns, until_ns))

    @staticmethod
    def _longest_s(
        moments: Sequence[tuple[int, int]], left: Sequence[_Bytes], since_ns: int | None, until_ns: int | None
    ) -> float:
        """The longest delay of what went in, each with its place in the order, in the interval."""
        places = _counted(left)
        longest_ns = 0
        for at_ns, place in moments:
            behind = bisect_left(places, place)
            if behind < len(left) and is_within(at_ns, since_ns, until_ns):
                longest_ns = max(longest_ns, left[behind].at_ns - at_ns)
        return longest_ns / 1e9


def _counted(parts: Sequence[_Bytes]) -> list[int]:
    """How many bytes there were up to and with each part."""
    return list(accumulate(part.number for part in parts))
