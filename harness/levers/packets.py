"""Packets dropped, refused, reset, delayed or doubled on the way between the client and one broker."""

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
    OVERFLOW = "overflow"
    """It meets a listener whose accept queue is full: the kernel drops it and counts that."""
    DELAY = "delay"
    """It is held, and delivered when its delay is over."""
    DUPLICATE = "duplicate"
    """It passes, and a copy of it comes right behind."""


_SENT_ON = (PacketAction.DELAY, PacketAction.DUPLICATE)
"""What a packet is sent on by: later rules treat it then, earlier ones do not."""


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
    """`dials` were answered with a reset, and `connections` that were open were closed."""

    name: ClassVar[str] = "connections_refused"
    meaning: ClassVar[str] = "dials were refused, or open connections closed with the port"

    dials: int = 0
    connections: int = 0

    def sentence(self) -> str:
        closed = f" and closed {quantity(self.connections, 'connection')}" if self.connections else ""
        return f"refused {quantity(self.dials, 'dial')}{closed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionsCut(Evidence):
    """`connections` of clients were ended, and `dials` since then were refused. Where a broker was lost, `requests`
    were met by that elsewhere: acknowledgements had to wait for its replicas, or metadata came from a cluster that had
    given it up."""

    name: ClassVar[str] = "connections_cut"
    meaning: ClassVar[str] = "connections were ended, or dials refused"

    connections: int = 0
    dials: int = 0
    requests: int = 0

    def sentence(self) -> str:
        told = f" and was met by {quantity(self.requests, 'request')}" if self.requests else ""
        return f"cut or refused {quantity(self.connections + self.dials, 'connection')}{told}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialsDelayed(Evidence):
    """`dials` were held on their way to the broker."""

    name: ClassVar[str] = "dials_delayed"
    meaning: ClassVar[str] = "dials were held"

    dials: int = 0

    def sentence(self) -> str:
        return f"held {quantity(self.amount, 'dial')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsDelayed(Evidence):
    """`packets` were held on their way."""

    name: ClassVar[str] = "packets_delayed"
    meaning: ClassVar[str] = "packets were held"

    packets: int = 0

    def sentence(self) -> str:
        return f"held {quantity(self.amount, 'packet')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsReordered(Evidence):
    """`packets` were held until later ones of their connection had overtaken them."""

    name: ClassVar[str] = "packets_reordered"
    meaning: ClassVar[str] = "packets were overtaken by later ones of their connection"

    packets: int = 0

    def sentence(self) -> str:
        return f"had {quantity(self.amount, 'packet')} overtaken"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsDuplicated(Evidence):
    """Copies of `packets` were sent behind them."""

    name: ClassVar[str] = "packets_duplicated"
    meaning: ClassVar[str] = "packets were sent twice"

    packets: int = 0

    def sentence(self) -> str:
        return f"duplicated {quantity(self.amount, 'packet')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialsOverflowed(Evidence):
    """`syns` met a full accept queue, those that a kernel sent again among them."""

    name: ClassVar[str] = "accept_queue_overflows"
    meaning: ClassVar[str] = "the kernel counted dials that overflowed an accept queue (TcpExt ListenOverflows)"

    syns: int = 0

    def sentence(self) -> str:
        return f"overflowed an accept queue with {quantity(self.amount, 'SYN')}"


@lever("packets")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilterPackets(BrokerLever):
    """Treat the packets between the client and one broker's advertised address.

    The rule sits on the receiver's input hook, as on a real network: a segment dropped there was sent, so the sender's
    kernel retransmits it with its ordinary timers. On the sender's output hook (`iptables -A OUTPUT -j DROP`) it was
    never sent: the kernel does not retransmit it but tries to send it whenever its persist timer fires, or the peer is
    heard of. Only drops can sit there.

    `only="syn"` matches a SYN without ACK, `"data"` a segment with payload, `"fin"` an orderly end. A reset is of data,
    or made of an end; only dials, to a broker, overflow an accept queue. `at_most` packets are treated, later ones
    pass; None: all are.

    `chance` is that of a packet's being treated, drawn anew for each copy, by the `seed` where time is virtual: of
    those that are dropped where they arrive, duplicated, or held so that others overtake them. What chance or a delay
    meets are the client's packets: the lab's own probes are spared.

    What is delayed, by `delays`, are dials or all packets. Of a dial the first SYN is held, its retransmissions
    meanwhile vanish, and it is delivered also where its client has given up by then. All packets leave in the order in
    which they came, unless chance has picked them. Undone, all that is held is delivered at once.

    Evidence: as the verdict says, see `found`.
    """

    flow: Flow
    verdict: PacketAction
    only: Literal["any", "syn", "data", "fin"] = "any"
    hook: Hook = "receiver"
    at_most: int | None = None
    delays: Delays | None = None
    chance: float = 1.0
    seed: str = ""

    def __post_init__(self) -> None:
        if self.hook == "sender" and self.verdict is not PacketAction.DROP:
            raise ValueError(f"packets can be dropped where they are sent, but no {self.verdict} can be made of them")
        if (self.verdict is PacketAction.RESET and self.only not in ("data", "fin")) or (
            self.only == "fin" and self.verdict is not PacketAction.RESET
        ):
            raise ValueError("a reset is made of a connection's data or its end, and of its end nothing else is")
        if self.verdict is PacketAction.OVERFLOW and (self.only, self.flow) != ("syn", "to_broker"):
            raise ValueError("an accept queue overflows with dials to a broker, and with nothing else")
        if self.at_most is not None and self.at_most < 1:
            raise ValueError(f"at most {self.at_most} packets are none")
        if (self.verdict is PacketAction.DELAY) is (self.delays is None):
            raise ValueError("packets are delayed by `delays`, and nothing else has them")
        if self.verdict in _SENT_ON and (self.only == "data" or self.at_most is not None):
            raise ValueError("what is delayed or duplicated are dials or all packets, without an end")
        if not 0 < self.chance <= 1 or (self.chance < 1 and not self._by_chance_alone):
            raise ValueError(
                "by chance, above 0 and up to 1, packets are dropped where they arrive, duplicated or reordered, and "
                "nothing else"
            )

    @property
    def _by_chance_alone(self) -> bool:
        match self.verdict:
            case PacketAction.DROP:
                return self.hook == "receiver" and self.at_most is None
            case PacketAction.DELAY:
                return self.only == "any"
        return self.verdict is PacketAction.DUPLICATE

    @property
    def reorders(self) -> bool:
        """Whether it holds some packets by chance, so that others overtake them."""
        return self.verdict is PacketAction.DELAY and self.chance < 1

    @property
    def counts_segments(self) -> bool:
        """Whether it matters how much data a packet has: each is held, copied or drawn for by itself.

        Loopback has segments of 64 KB, and no other network does.
        """
        return self.only != "syn" and (self.verdict in _SENT_ON or self.chance < 1)

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
            case PacketAction.OVERFLOW:
                return DialsOverflowed(syns=packets)
            case PacketAction.DUPLICATE:
                return PacketsDuplicated(packets=packets)
            case PacketAction.DELAY if self.only == "syn":
                return DialsDelayed(dials=packets)
            case PacketAction.DELAY:
                return PacketsReordered(packets=packets) if self.reorders else PacketsDelayed(packets=packets)
