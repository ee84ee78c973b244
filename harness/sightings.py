"""When something was seen, in bounded memory: what a lever's evidence of an interval is made of."""

from collections.abc import Callable
from math import inf


class Sightings:
    """Moments at which one kind of thing was seen.

    `total` counts all of them; moments are kept of those that the client caused, not of the lab's own. At most `limit`
    entries are kept, an even number: beyond that neighbours are merged, and the count of an interval that ends inside a
    merged entry is a lower bound. `notify` is called at each.
    """

    __slots__ = ("_entries", "_limit", "_step", "notify", "total")

    def __init__(self, limit: int = 4096) -> None:
        self.total = 0
        self.notify: Callable[[], None] | None = None
        self._limit = limit
        self._step = 1  # how many moments an entry holds
        self._entries: list[tuple[int, int, int]] = []  # the first moment, the last one, how many

    def add(self, at_ns: int | None) -> None:
        """One more, at this moment of the world's clock; None: the lab's own."""
        self.total += 1
        if self.notify is not None:
            self.notify()
        if at_ns is None:
            return
        entries = self._entries
        if self._step > 1 and entries[-1][2] < self._step:
            first_ns, _, number = entries[-1]
            entries[-1] = (first_ns, at_ns, number + 1)
            return
        entries.append((at_ns, at_ns, 1))
        if len(entries) > self._limit:
            self._step *= 2
            *whole, (first_ns, last_ns, number) = self._entries
            pairs = zip(whole[::2], whole[1::2], strict=True)
            self._entries = [(one[0], other[1], one[2] + other[2]) for one, other in pairs]
            self._entries.append((first_ns, last_ns, number))

    def count(self, since_ns: int | None = None, until_ns: int | None = None) -> int:
        """How many the client caused from one moment to another, both included; None: without a bound."""
        since, until = -inf if since_ns is None else since_ns, inf if until_ns is None else until_ns
        found = 0
        for first_ns, last_ns, number in self._entries:
            if since <= first_ns and last_ns <= until:
                found += number
            else:
                found += (since <= first_ns <= until) + (since <= last_ns <= until)
        return found


class ConnectionSightings:
    """The same for each connection, known by the client's port."""

    def __init__(self) -> None:
        self._by_port: dict[int, Sightings] = {}

    def add(self, port: int, at_ns: int) -> None:
        self._by_port.setdefault(port, Sightings(limit=256)).add(at_ns)

    def packets(self, since_ns: int | None = None, until_ns: int | None = None) -> int:
        return sum(seen.count(since_ns, until_ns) for seen in self._by_port.values())

    def packets_of(self, port: int, since_ns: int | None = None, until_ns: int | None = None) -> int:
        """The same on one connection."""
        seen = self._by_port.get(port)
        return 0 if seen is None else seen.count(since_ns, until_ns)

    def connections(self, since_ns: int | None = None, until_ns: int | None = None) -> int:
        """On how many connections anything was seen in the interval."""
        return sum(seen.count(since_ns, until_ns) > 0 for seen in self._by_port.values())


def is_within(at_ns: int, since_ns: int | None, until_ns: int | None) -> bool:
    """Whether a moment lies in an interval; None: without a bound."""
    return (since_ns is None or since_ns <= at_ns) and (until_ns is None or at_ns <= until_ns)
