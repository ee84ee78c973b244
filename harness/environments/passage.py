"""What goes into a broker's proxy and what comes out of it again, on both of its sides: the proof of what toxics do.

The packets of a proxy do not say which of its connections to the client and to the broker belong together. So what
became late is found by order: the last of so many bytes that went in is held against the last of as many that came out.
No other matching has a smaller longest delay, so this is a lower bound.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from harness.environments.proxy_connection import ByteStream, ProxyConnection, ProxyPacket, Side, StreamBytes
from harness.levers import Flow
from harness.levers.toxic import MIN_DELAY_SHARE
from harness.sightings import is_within

CHUNK_BYTES = 32 * 1024
"""What Toxiproxy reads at most at once (Go, io.Copy): without a toxic, too, it cuts what is longer."""
LATE_S = 0.1
"""How much later than it is due a busy machine ends a connection at most, or it is another's work."""


class ProxyPassage:
    """What was seen of one broker's proxy in one flow, the lab's own probes left out.

    Intervals are those in which something went in, or a connection ended.
    """

    def __init__(self, flow: Flow, fetch: Callable[[], None] = lambda: None) -> None:
        """`fetch` hands over to `look_at` what the world has seen and not handed over yet."""
        self._flow = flow
        self._fetch = fetch
        self._connections: dict[tuple[Side, int], ProxyConnection] = {}
        self._now_ns = 0
        self._began_ns = 0
        self._undone_ns: int | None = None
        self._cut_by_undoing = 0

    def look_at(self, packet: ProxyPacket) -> None:
        key = packet.side, packet.port
        if packet.opens and packet.flow == "to_broker" and not self._is_again(key):
            self._connections[key] = ProxyConnection(packet.side, packet.at_ns)
        connection = self._connections.get(key)
        if connection is None:
            connection = self._connections[key] = ProxyConnection(packet.side, open=True)
        connection.take(packet)

    def _is_again(self, key: tuple[Side, int]) -> bool:
        known = self._connections.get(key)
        return known is not None and known.ended_ns is None

    def update(self, now_ns: int) -> None:
        """Take what the world has seen up to now."""
        self._fetch()
        self._now_ns = now_ns

    def begins(self, at_ns: int) -> None:
        """The toxic is added from now on."""
        self._began_ns = at_ns

    def undo_begins(self, at_ns: int, cut: int = 0) -> None:
        """The toxic is removed from now on: how connections end then is no work of its, but of so many of clients that
        its removal cuts. Only the first time counts."""
        self.update(at_ns)
        if self._undone_ns is None:
            self._undone_ns, self._cut_by_undoing = at_ns, cut

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
        return max(longest_s, self._kept_s(entered, came_out[-1], bytes_per_s, since_ns, until_ns))

    def _kept_s(
        self,
        entered: Sequence[StreamBytes],
        passed: int,
        bytes_per_s: float,
        since_ns: int | None,
        until_ns: int | None,
    ) -> float:
        """How long a rate has kept bytes that are in the proxy still, or were when the toxic was removed. What stays
        for longer than the rate takes for all that is inside, another toxic keeps."""
        moment_ns = self._now_ns if self._undone_ns is None else self._undone_ns
        longest_s = 0.0
        for part, place in zip(entered, _counted(entered), strict=True):
            kept_s = (moment_ns - part.at_ns) / 1e9
            if (
                place > passed
                and 0 < kept_s <= (place - passed) / bytes_per_s
                and is_within(part.at_ns, since_ns, until_ns)
            ):
                longest_s = max(longest_s, kept_s)
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

    def holds_end(self, shortest_s: float, longest_s: float, since_ns: int | None, until_ns: int | None) -> bool:
        """Whether the end of a connection is in the proxy still, or was when the toxic was removed, that came so long
        before. Fewer connections have ended behind the proxy than in front of it then: where both peers have ended
        theirs, it has nothing to pass on."""
        moment_ns = self._now_ns if self._undone_ns is None else self._undone_ns
        inside = self._ended_by(moment_ns, entering=True) - self._ended_by(moment_ns, entering=False)
        entered = sorted(at_ns for at_ns in self._ends(self._flow, entering=True) if at_ns <= moment_ns)
        return inside > 0 and any(
            shortest_s <= (moment_ns - at_ns) / 1e9 <= longest_s
            for at_ns in entered[-inside:]
            if is_within(at_ns, since_ns, until_ns)
        )

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

    def cut_in_silence(self, timeout_s: float, since_ns: int | None, until_ns: int | None) -> int:
        """How many connections the proxy ended since nothing had come for so long, unless that is 0, or with the
        toxic's removal."""
        undone = self._undone_ns is not None and is_within(self._undone_ns, since_ns, until_ns)
        cut = self._cut_by_undoing if undone else 0
        if timeout_s > 0:
            cut += sum(
                self._cut(one, since_ns, until_ns) and not self._passed_on_end(one) and self._silent(one, timeout_s)
                for one in self._of_side(entering=True)
            )
        return cut

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

    def _cut(self, connection: ProxyConnection, since_ns: int | None, until_ns: int | None) -> bool:
        """Whether the proxy ended it, and nobody else, before the toxic was removed."""
        ended = self._ended_by_proxy(connection, since_ns, until_ns)
        return ended and not (self._undone_ns is not None and (connection.ended_ns or 0) > self._undone_ns)

    @staticmethod
    def _ended_by_proxy(connection: ProxyConnection, since_ns: int | None, until_ns: int | None) -> bool:
        by_proxy: Flow = "to_client" if connection.side == "client" else "to_broker"
        if connection.ended_ns is None or connection.ended_by != by_proxy:
            return False
        return is_within(connection.ended_ns, since_ns, until_ns)

    def _met(self, part: StreamBytes) -> bool:
        """Whether bytes came before the toxic was removed."""
        return self._undone_ns is None or part.at_ns <= self._undone_ns

    def _stayed_open(self, connection: ProxyConnection, part: StreamBytes, timeout_s: float) -> bool:
        if not self._cut(connection, None, None) or self._passed_on_end(connection):
            return True
        assert connection.ended_ns is not None
        return timeout_s > 0 and connection.ended_ns - part.at_ns >= timeout_s * 0.9e9

    def _silent(self, connection: ProxyConnection, timeout_s: float) -> bool:
        """Whether its last bytes came just so long before it was ended."""
        assert connection.ended_ns is not None
        last = list(connection.streams[self._flow].arrived())[-1:]
        since_ns = max(self._began_ns, connection.opened_ns, *(part.at_ns for part in last))
        return timeout_s * 0.9 <= (connection.ended_ns - since_ns) / 1e9 <= timeout_s + LATE_S

    def _passed_on_end(self, connection: ProxyConnection) -> bool:
        """Whether the proxy ended an entering connection because its other half had ended: before that, fewer had been
        ended by the proxy here than by their peers there by then. Which of those at one moment was it cannot be told:
        each may have been."""
        ended_ns = connection.ended_ns
        assert ended_ns is not None
        by_proxy = sum(at_ns < ended_ns for at_ns in self._ends(connection.ended_by, entering=True))
        by_peers = sum(at_ns <= ended_ns for at_ns in self._ends(connection.ended_by, entering=False))
        return by_proxy < by_peers

    def _ends(self, flow: Flow | None, *, entering: bool) -> list[int]:
        """When connections ended in a flow: on the side where bytes enter, or where they leave."""
        return [
            connection.ended_ns
            for connection in self._of_side(entering=entering)
            if connection.ended_ns is not None and connection.ended_by == flow
        ]

    def _ended_by(self, moment_ns: int, *, entering: bool) -> int:
        """How many connections of a side had ended by then, whichever peer ended them."""
        ends = (connection.ended_ns for connection in self._of_side(entering=entering))
        return sum(at_ns is not None and at_ns <= moment_ns for at_ns in ends)

    def _of_side(self, *, entering: bool) -> list[ProxyConnection]:
        side: Side = "client" if entering == (self._flow == "to_broker") else "broker"
        return [one for one in self._connections.values() if one.side == side and not one.probe]

    def _entering(self) -> list[ByteStream]:
        return [connection.streams[self._flow] for connection in self._of_side(entering=True)]

    def _leaving(self) -> list[ByteStream]:
        return [connection.streams[self._flow] for connection in self._of_side(entering=False)]

    @staticmethod
    def _number(streams: Iterable[ByteStream], since_ns: int | None, until_ns: int | None) -> int:
        return sum(p.number for stream in streams for p in stream.parts if is_within(p.at_ns, since_ns, until_ns))

    @staticmethod
    def _longest_s(
        moments: Sequence[tuple[int, int]], left: Sequence[StreamBytes], since_ns: int | None, until_ns: int | None
    ) -> float:
        """The longest delay of what went in, each with its place in the order, in the interval."""
        places = _counted(left)
        longest_ns = 0
        for at_ns, place in moments:
            behind = bisect_left(places, place)
            if behind < len(left) and is_within(at_ns, since_ns, until_ns):
                longest_ns = max(longest_ns, left[behind].at_ns - at_ns)
        return longest_ns / 1e9


def _counted(parts: Sequence[StreamBytes]) -> list[int]:
    """How many bytes there were up to and with each part."""
    return list(accumulate(part.number for part in parts))
