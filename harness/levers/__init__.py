"""The closed set of things a world can do to a run.

A fault is data: it returns levers and knows no environment. A world pulls levers and knows no fault. A new fault is
one new file; a new lever is a design change, because every world has to say whether it can make it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Flow = Literal["to_broker", "to_client"]
FLOWS: tuple[Flow, Flow] = ("to_broker", "to_client")


class Verdict(StrEnum):
    """What happens to a packet that a rule matches."""

    DROP = "drop"
    """It vanishes and nobody is told."""
    REFUSE = "refuse"
    """It is answered with a TCP reset, as a host without a listener does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """Treat the packets between the client and one broker's advertised address.

    The rule sits on the receiver's input hook, as on a real network: a segment dropped there was sent, so the sender's
    kernel retransmits it with its ordinary timers. `only="syn"` matches a SYN without ACK, `"data"` a segment with
    payload.
    """

    broker: int
    flow: Flow
    verdict: Verdict
    only: Literal["any", "syn", "data"] = "any"


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
class Unlisten:
    """Nobody listens on one broker's advertised port: dials are refused, open connections are closed."""

    broker: int


Lever = Packets | Toxic | Unlisten
LEVERS: tuple[type[Lever], ...] = (Packets, Toxic, Unlisten)
