"""Packet rules on an input hook or an output hook, and taps that see what travels: what they match and count."""

from collections.abc import Callable

from harness.environments.sim.addresses import PROBES
from harness.environments.sim.segment import ACK, RST, SYN, Address, Segment
from harness.levers import FilterPackets, Flow, Hook, PacketAction
from harness.sightings import ConnectionSightings, Sightings


class PacketRule:
    """A lever `FilterPackets` in force. `packets` were treated, `refusals` were SYNs among them that were refused.

    `seen` and `seen_refused` keep the times of the client's, if the rule has a clock.
    """

    __slots__ = ("_address", "_at_most", "_flow", "_now_ns", "_only", "hook", "seen", "seen_refused", "verdict")

    def __init__(
        self,
        address: Address,
        flow: Flow,
        only: str,
        verdict: PacketAction,
        *,
        hook: Hook = "receiver",
        at_most: int | None = None,
        now_ns: Callable[[], int] | None = None,
    ) -> None:
        self._address = address
        self._flow = flow
        self._only = only
        self._at_most = at_most
        self._now_ns = now_ns
        self.hook = hook
        self.verdict = verdict
        self.seen = Sightings()
        self.seen_refused = Sightings()

    @classmethod
    def of(cls, lever: FilterPackets, address: Address, now_ns: Callable[[], int] | None = None) -> "PacketRule":
        """The rule of a lever at the broker's advertised address."""
        return cls(
            address, lever.flow, lever.only, lever.verdict, hook=lever.hook, at_most=lever.at_most, now_ns=now_ns
        )

    @property
    def packets(self) -> int:
        return self.seen.total

    @property
    def refusals(self) -> int:
        return self.seen_refused.total

    def match_and_count(self, segment: Segment) -> bool:
        """Whether the rule matches this segment. Counts it if so."""
        ours, theirs = (segment.dst, segment.src) if self._flow == "to_broker" else (segment.src, segment.dst)
        if ours != self._address:
            return False
        opens = segment.flags & (SYN | ACK | RST) == SYN
        if (self._only == "syn" and not opens) or (self._only == "data" and not segment.payload):
            return False
        if self._at_most is not None and self.seen.total >= self._at_most:
            return False
        at_ns = None if self._now_ns is None or theirs[0] == PROBES else self._now_ns()
        self.seen.add(at_ns)
        if opens and self.verdict is PacketAction.REFUSE:
            self.seen_refused.add(at_ns)
        return True


class DataTap:
    """Sees the segments with payload between the client and one advertised address, as they arrive, before any rule on
    the receiver's hook treats them."""

    def __init__(self, address: Address, flow: Flow, now_ns: Callable[[], int]) -> None:
        self._address = address
        self._flow = flow
        self._now_ns = now_ns
        self.seen = ConnectionSightings()

    def look_at(self, segment: Segment) -> None:
        broker, client = (segment.dst, segment.src) if self._flow == "to_broker" else (segment.src, segment.dst)
        if broker == self._address and segment.payload and client[0] != PROBES:
            self.seen.add(client[1], self._now_ns())


class RefusalTap:
    """Sees the dials to one address that are refused because it has no listener."""

    def __init__(self, address: Address, now_ns: Callable[[], int]) -> None:
        self._address = address
        self._now_ns = now_ns
        self.seen = Sightings()

    def look_at(self, syn: Segment) -> None:
        if syn.dst == self._address:
            self.seen.add(None if syn.src[0] == PROBES else self._now_ns())
