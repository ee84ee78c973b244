"""Packets dropped, refused, reset or delayed on the way between the client and one broker."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

from harness.levers.base import BrokerLever, Evidence, Flow, lever, quantity
from harness.levers.delays import Delays

Hook = Literal["receiver", "sender"]
HOOKS: tuple[Hook, Hook] = ("receiver", "sender")


class PacketAction(StrEnum):
    """What happens to a packet that a rule matches."""

    DROP = "drop"
    """It vanishes; neither end learns of it."""
    REFUSE = "refuse"
    """Its sender gets a TCP reset, as from a host without a listener. Its receiver learns nothing."""
    RESET = "reset"
    """Its connection is reset: both ends get a TCP reset at once, and neither sees the packet."""
    DELAY = "delay"
    """It is held, and delivered when its delay is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsDropped(Evidence):
    """`packets` matched the lever's rules and were dropped."""

    name: ClassVar[str] = "packets_dropped"
    meaning: ClassVar[str] = "packets were dropped by its rules"

    packets: int = 0

    def sentence(self) -> str:
        return f"dropped {quantity(self.amount, 'packet')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialsRefused(Evidence):
    """`dials` were answered with a reset. `connections` were closed besides; they are not counted."""

    name: ClassVar[str] = "connections_refused"
    meaning: ClassVar[str] = "dials were refused"

    dials: int = 0
    connections: int = 0

    @property
    def amount(self) -> float:
        return float(self.dials)

    def sentence(self) -> str:
        return f"refused {quantity(self.amount, 'dial')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionsCut(Evidence):
    """`connections` of clients were ended, and `dials` since then were refused."""

    name: ClassVar[str] = "connections_cut"
    meaning: ClassVar[str] = "connections were ended, or dials refused"

    connections: int = 0
    dials: int = 0

    def sentence(self) -> str:
        return f"cut or refused {quantity(self.amount, 'connection')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialsDelayed(Evidence):
    """`dials` were held on their way to the broker."""

    name: ClassVar[str] = "dials_delayed"
    meaning: ClassVar[str] = "dials were held"

    dials: int = 0

    def sentence(self) -> str:
        return f"held {quantity(self.amount, 'dial')}"


@lever("packets")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilterPackets(BrokerLever):
    """Treat the packets between the client and one broker's advertised address.

    The rule sits on the receiver's input hook, as on a real network: a segment dropped there was sent, so the sender's
    kernel retransmits it with its ordinary timers. On the sender's output hook (`iptables -A OUTPUT -j DROP`) it was
    never sent: the kernel does not retransmit it but tries to send it whenever its persist timer fires, or the peer is
    heard of. Only drops can sit there.

    `only="syn"` matches a SYN without ACK, `"data"` a segment with payload. A reset is of data. `at_most` packets are
    treated, later ones pass; None: all are. Of packets that are dropped where they arrive, each may be spared: `chance`
    is that of its being dropped, drawn anew for each copy, by the `seed` where time is virtual. The lab's own probes
    are then spared.

    What is delayed are dials, by `delays`: the first SYN of each is held, its retransmissions meanwhile vanish. It is
    delivered also where its client has given up by then. Undone, all that is held is delivered at once. The lab's own
    probes are not delayed.

    Evidence: PacketsDropped, DialsRefused, ConnectionsCut or DialsDelayed, as the verdict says.
    """

    flow: Flow
    verdict: PacketAction
    only: Literal["any", "syn", "data"] = "any"
    hook: Hook = "receiver"
    at_most: int | None = None
    delays: Delays | None = None
    chance: float = 1.0
    seed: str = ""

    def __post_init__(self) -> None:
        if self.hook == "sender" and self.verdict is not PacketAction.DROP:
            raise ValueError(f"packets can be dropped where they are sent, but no {self.verdict} can be made of them")
        if self.verdict is PacketAction.RESET and self.only != "data":
            raise ValueError("a reset is made of a connection's data, never of other packets")
        if self.at_most is not None and self.at_most < 1:
            raise ValueError(f"at most {self.at_most} packets are none")
        if (self.verdict is PacketAction.DELAY) is (self.delays is None):
            raise ValueError("packets are delayed by `delays`, and nothing else has them")
        if self.verdict is PacketAction.DELAY and (self.only != "syn" or self.at_most is not None):
            raise ValueError("what is delayed are dials, all of them")
        dropped_here = self.verdict is PacketAction.DROP and self.hook == "receiver" and self.at_most is None
        if not 0 < self.chance <= 1 or (self.chance < 1 and not dropped_here):
            raise ValueError("by chance, above 0 and up to 1, packets are dropped where they arrive, and nothing else")

    @property
    def where(self) -> str:
        return f"broker {self.broker} ({self.flow})"

    @property
    def lasts(self) -> bool:
        return self.verdict is PacketAction.RESET

    def found(self, packets: int, refusals: int) -> Evidence:
        """The evidence: `packets` were treated, `refusals` of them were dials."""
        match self.verdict:
            case PacketAction.DROP:
                return PacketsDropped(packets=packets)
            case PacketAction.REFUSE:
                return DialsRefused(dials=refusals)
            case PacketAction.RESET:
                return ConnectionsCut(connections=packets)
            case PacketAction.DELAY:
                return DialsDelayed(dials=packets)
