"""Packet rules on an input hook or an output hook, and taps that see what travels: what they match and count."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from harness.environments.sim.addresses import PROBES
from harness.environments.sim.segment import ACK, RST, SYN, Address, Segment
from harness.levers import Delays, FilterPackets, Flow, Hook, PacketAction
from harness.sightings import ConnectionSightings, Sightings

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer, SimLoop


class PacketRule:
    """A lever `FilterPackets` in force. `packets` were treated, `refusals` were SYNs among them that were refused.

    `seen` and `seen_refused` keep the times of the client's, if the rule has a clock. `number` orders the rules of a
    network by when they were put there. `hold` has what a rule that delays holds.
    """

    __slots__ = (
        "_address",
        "_at_most",
        "_chance",
        "_flow",
        "_now_ns",
        "_only",
        "_rng",
        "hold",
        "hook",
        "number",
        "seen",
        "seen_refused",
        "verdict",
    )

    def __init__(
        self,
        address: Address,
        flow: Flow,
        only: str,
        verdict: PacketAction,
        *,
        hook: Hook = "receiver",
        at_most: int | None = None,
        delays: Delays | None = None,
        chance: float = 1.0,
        seed: str = "",
        now_ns: Callable[[], int] | None = None,
    ) -> None:
        self._address = address
        self._flow = flow
        self._only = only
        self._at_most = at_most
        self._now_ns = now_ns
        self._chance = chance
        self._rng = Random(seed) if chance < 1 else None
        self.hook = hook
        self.verdict = verdict
        self.number = 0
        self.hold = None if delays is None else DialHold(delays)
        self.seen = Sightings()
        self.seen_refused = Sightings()

    @classmethod
    def of(cls, lever: FilterPackets, address: Address, now_ns: Callable[[], int] | None = None) -> PacketRule:
        """The rule of a lever at the broker's advertised address."""
        return cls(
            address,
            lever.flow,
            lever.only,
            lever.verdict,
            hook=lever.hook,
            at_most=lever.at_most,
            delays=lever.delays,
            chance=lever.chance,
            seed=lever.seed,
            now_ns=now_ns,
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
        if self.hold is not None and (theirs[0] == PROBES or self.hold.knows(segment)):
            return self.hold.holds(segment)
        if self._rng is not None and (theirs[0] == PROBES or self._rng.random() >= self._chance):
            return False
        at_ns = None if self._now_ns is None or theirs[0] == PROBES else self._now_ns()
        self.seen.add(at_ns)
        if opens and self.verdict is PacketAction.REFUSE:
            self.seen_refused.add(at_ns)
        return True


class DialHold:
    """The dials that a rule holds: the first SYN of each, for as long as its delay says."""

    __slots__ = ("_delays", "_timers")

    def __init__(self, delays: Delays) -> None:
        self._delays = iter(delays)
        self._timers: dict[tuple[Address, Address], KernelTimer | None] = {}

    def knows(self, syn: Segment) -> bool:
        """Whether it has held a SYN of this dial, or still does."""
        return (syn.src, syn.dst) in self._timers

    def holds(self, syn: Segment) -> bool:
        return self._timers.get((syn.src, syn.dst)) is not None

    def take(self, syn: Segment, loop: SimLoop, deliver: Callable[[Segment], None]) -> None:
        """Deliver this SYN when its delay is over. A further one of a dial that is held vanishes."""
        if not self.knows(syn):
            due = loop.now + next(self._delays)
            self._timers[syn.src, syn.dst] = loop.call_kernel_at(due, self._deliver, syn, deliver)

    def release_all(self, loop: SimLoop) -> None:
        """Deliver all that is held at once."""
        for timer in self._timers.values():
            if timer is not None:
                assert timer.callback is not None, "it has not come to its delivery yet"
                loop.call_kernel_at(loop.now, timer.callback, *timer.args)
                timer.cancel()

    def _deliver(self, syn: Segment, deliver: Callable[[Segment], None]) -> None:
        self._timers[syn.src, syn.dst] = None
        deliver(syn)


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
