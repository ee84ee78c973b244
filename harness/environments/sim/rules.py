"""Packet rules on the receiver's input hook: what they match, what they do, and what they counted."""

from harness.environments.sim.segment import ACK, RST, SYN, Address, Segment
from harness.levers import Flow, Packets, Verdict


class Rule:
    """A lever `Packets` in force. `packets` were dropped or refused; `refusals` are the SYNs among the refused."""

    __slots__ = ("_address", "_flow", "_only", "packets", "refusals", "verdict")

    def __init__(self, address: Address, flow: Flow, only: str, verdict: Verdict) -> None:
        self._address = address
        self._flow = flow
        self._only = only
        self.verdict = verdict
        self.packets = 0
        self.refusals = 0

    @classmethod
    def of(cls, lever: Packets, address: Address) -> "Rule":
        """The rule of a lever at the broker's advertised address."""
        return cls(address, lever.flow, lever.only, lever.verdict)

    def takes(self, segment: Segment) -> bool:
        """Whether this segment is the rule's; counts it if so."""
        if (segment.dst if self._flow == "to_broker" else segment.src) != self._address:
            return False
        opens = segment.flags & (SYN | ACK | RST) == SYN
        if (self._only == "syn" and not opens) or (self._only == "data" and not segment.payload):
            return False
        self.packets += 1
        if opens and self.verdict is Verdict.REFUSE:
            self.refusals += 1
        return True
