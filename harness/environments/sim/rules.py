"""Packet rules on an input hook or an output hook: what they match, what they do, and what they counted."""

from harness.environments.sim.segment import ACK, RST, SYN, Address, Segment
from harness.levers import FilterPackets, Flow, Hook, PacketAction


class PacketRule:
    """A lever `FilterPackets` in force. `packets` were treated; `refusals` are the SYNs among those that were
    refused."""

    __slots__ = ("_address", "_at_most", "_flow", "_only", "hook", "packets", "refusals", "verdict")

    def __init__(
        self,
        address: Address,
        flow: Flow,
        only: str,
        verdict: PacketAction,
        *,
        hook: Hook = "receiver",
        at_most: int | None = None,
    ) -> None:
        self._address = address
        self._flow = flow
        self._only = only
        self._at_most = at_most
        self.hook = hook
        self.verdict = verdict
        self.packets = 0
        self.refusals = 0

    @classmethod
    def of(cls, lever: FilterPackets, address: Address) -> "PacketRule":
        """The rule of a lever at the broker's advertised address."""
        return cls(address, lever.flow, lever.only, lever.verdict, hook=lever.hook, at_most=lever.at_most)

    def match_and_count(self, segment: Segment) -> bool:
        """Whether this segment is the rule's; counts it if so."""
        if (segment.dst if self._flow == "to_broker" else segment.src) != self._address:
            return False
        opens = segment.flags & (SYN | ACK | RST) == SYN
        if (self._only == "syn" and not opens) or (self._only == "data" and not segment.payload):
            return False
        if self._at_most is not None and self.packets >= self._at_most:
            return False
        self.packets += 1
        if opens and self.verdict is PacketAction.REFUSE:
            self.refusals += 1
        return True
