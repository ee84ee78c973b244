"""The closed set of things a world can do to a run.

A fault is data: it returns levers and knows no environment. A world pulls levers and knows no fault. A new fault is
one new file; a new lever is a design change, because every world has to say whether it can make it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Flow = Literal["to_broker", "to_client"]
Hook = Literal["receiver", "sender"]
HOOKS: tuple[Hook, Hook] = ("receiver", "sender")
FLOWS: tuple[Flow, Flow] = ("to_broker", "to_client")


class PacketAction(StrEnum):
    """What happens to a packet that a rule matches."""

    DROP = "drop"
    """It vanishes and nobody is told."""
    REFUSE = "refuse"
    """It is answered with a TCP reset, as a host without a listener does. Who it was meant for is told nothing."""
    RESET = "reset"
    """Its connection is reset, at both ends and at once: neither hears of the packet, both get a TCP reset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterPackets:
    """Treat the packets between the client and one broker's advertised address.

    The rule sits on the receiver's input hook, as on a real network: a segment dropped there was sent, so the sender's
    kernel retransmits it with its ordinary timers. On the sender's output hook (`iptables -A OUTPUT -j DROP`) it was
    never sent: the kernel does not retransmit it but tries to send it whenever its persist timer fires, or the peer is
    heard of. Only drops can sit there.

    `only="syn"` matches a SYN without ACK, `"data"` a segment with payload. A reset is of data. `at_most` packets are
    treated, later ones pass; None: all are.
    """

    broker: int
    flow: Flow
    verdict: PacketAction
    only: Literal["any", "syn", "data"] = "any"
    hook: Hook = "receiver"
    at_most: int | None = None

    def __post_init__(self) -> None:
        if self.hook == "sender" and self.verdict is not PacketAction.DROP:
            raise ValueError(f"packets can be dropped where they are sent, but no {self.verdict} can be made of them")
        if self.verdict is PacketAction.RESET and self.only != "data":
            raise ValueError("a reset is made of a connection's data, never of other packets")
        if self.at_most is not None and self.at_most < 1:
            raise ValueError(f"at most {self.at_most} packets are none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toxic:
    """A Toxiproxy toxic on one broker's proxy.

    `to_broker` is Toxiproxy's upstream, `to_client` its downstream. `attributes` are Toxiproxy's own names, in its own
    units (latency and jitter: milliseconds).
    """

    broker: int
    flow: Flow
    kind: str
    attributes: tuple[tuple[str, int], ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseListener:
    """Nobody listens on one broker's advertised port: dials are refused, open connections are closed."""

    broker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Do to one broker's process what a signal does.

    `kill`: it ends at once and nobody listens at its advertised port; undone, it is started again on its old logs.
    `pause`: it stands still, while its kernel goes on accepting and acknowledging; undone, it goes on with what came
    meanwhile. `restart`: it is killed and started again, which undoing does not change.
    """

    broker: int
    kind: Literal["kill", "pause", "restart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """The request is read and that is all: nothing is done, and nothing on its connection is answered any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedResponse:
    """The request is done at once and answered so much later; what comes behind it on its connection waits, too."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """The request is not done but answered with an error, by Kafka's name for it: `NOT_LEADER_OR_FOLLOWER`."""

    error: str


InterceptResponse = Silence | DelayedResponse | ErrorAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Intercept:
    """Have one broker meet requests with something else than their answer.

    `api` is the request's name as in `list_offsets`, or `all`. `nth` counts such requests from 1, since the lever was
    pulled; None: each of them.
    """

    broker: int
    answer: InterceptResponse
    api: str = "all"
    nth: int | None = None


Lever = FilterPackets | Toxic | CloseListener | Signal | Intercept
LEVERS: tuple[type[Lever], ...] = (FilterPackets, Toxic, CloseListener, Signal, Intercept)
