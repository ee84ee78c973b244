"""Packet rules on an input hook or an output hook, and taps that see what travels: what they match and count."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from harness.environments.passage import ProxyPassage
from harness.environments.proxy_connection import ProxyPacket, Side
from harness.environments.sim.addresses import PROBES
from harness.environments.sim.holds import Hold, hold_for
from harness.environments.sim.segment import ACK, FIN, RST, SYN, Address, Segment
from harness.levers import Delays, FilterPackets, Flow, Hook, PacketAction
from harness.sightings import ConnectionSightings, Sightings


class PacketRule:
    """A lever `FilterPackets` in force. `packets` were treated, `refusals` were SYNs among them that were refused.

    `seen` and `seen_refused` keep the times of the client's, if the rule has a clock; of packets that are held by
    chance, those that others overtook. `number` orders the rules of a network by when they were put there. `hold` has
    what a rule that delays holds.
    """

    __slots__ = (
        "_address",
        "_at_most",
        "_chance",
        "_flow",
        "_now_ns",
        "_only",
        "_rng",
        "_spares_probes",
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
        self.seen = Sightings()
        self.seen_refused = Sightings()
        self.hold: Hold | None = None
        if delays is not None:
            self.hold = hold_for(delays, self.seen, dials=only == "syn", overtaken=chance < 1)
        self._spares_probes = delays is not None or chance < 1 or verdict is PacketAction.DUPLICATE

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

    @property
    def always_resets(self) -> bool:
        """Whether the sender of what the rule applies to is reset, with certainty."""
        return self._rng is None and self.verdict in (PacketAction.REFUSE, PacketAction.RESET)

    def applies_to(self, segment: Segment) -> bool:
        """Whether the rule may treat this segment; chance decides the rest. Counts nothing."""
        ours, theirs = (segment.dst, segment.src) if self._flow == "to_broker" else (segment.src, segment.dst)
        if ours != self._address:
            return False
        if self._only != "any" and not self._is_of_its_kind(segment):
            return False
        if self._at_most is not None and self.seen.total >= self._at_most:
            return False
        return not (self._spares_probes and theirs[0] == PROBES)

    def match_and_count(self, segment: Segment) -> bool:
        """Whether the rule matches this segment. Counts it if so."""
        if not self.applies_to(segment):
            return False
        probing = (segment.src if self._flow == "to_broker" else segment.dst)[0] == PROBES
        picked = self._rng is None or self._rng.random() < self._chance
        at_ns = None if self._now_ns is None or probing else self._now_ns()
        if self.hold is not None:
            return self.hold.matches(segment, at_ns, picked=picked)
        if not picked:
            return False
        self.seen.add(at_ns)
        if self.verdict is PacketAction.REFUSE and _opens(segment):
            self.seen_refused.add(at_ns)
        return True

    def _is_of_its_kind(self, segment: Segment) -> bool:
        if self._only == "syn":
            return _opens(segment)
        return bool(segment.payload) if self._only == "data" else segment.flags & (FIN | RST) == FIN


def _opens(segment: Segment) -> bool:
    return segment.flags & (SYN | ACK | RST) == SYN


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


class ProxyTap:
    """Sees the segments on both sides of one broker's proxy, as they arrive, but for those of the lab's own probes."""

    def __init__(self, advertised: Address, upstream: Address, flow: Flow, now_ns: Callable[[], int]) -> None:
        self._sides: dict[Address, Side] = {advertised: "client", upstream: "broker"}
        self._now_ns = now_ns
        self.seen = ProxyPassage(flow)

    def look_at(self, segment: Segment) -> None:
        flow: Flow = "to_broker" if segment.dst in self._sides else "to_client"
        server, dialler = (segment.dst, segment.src) if flow == "to_broker" else (segment.src, segment.dst)
        side = self._sides.get(server)
        if side is not None and dialler[0] != PROBES:
            self.seen.look_at(
                ProxyPacket(
                    side=side,
                    port=dialler[1],
                    flow=flow,
                    seq=segment.seq,
                    ack=segment.ack if segment.flags & (ACK | RST) == ACK else None,
                    length=len(segment.payload),
                    head=bytes(segment.payload[:64]),
                    opens=bool(segment.flags & SYN),
                    ends=bool(segment.flags & (FIN | RST)),
                    at_ns=self._now_ns(),
                )
            )


class RefusalTap:
    """Sees the dials to one address that are refused because it has no listener."""

    def __init__(self, address: Address, now_ns: Callable[[], int]) -> None:
        self._address = address
        self._now_ns = now_ns
        self.seen = Sightings()

    def look_at(self, syn: Segment) -> None:
        if syn.dst == self._address:
            self.seen.add(None if syn.src[0] == PROBES else self._now_ns())
