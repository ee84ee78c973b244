"""Toxics: what Toxiproxy does to the bytes that pass through one broker's proxy.

A kind of toxic is in `TOXIC_KINDS` with the evidence that proves it; `harness.environments.toxics` collects it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from harness.levers.base import BrokerLever, Evidence, Flow, lever, quantity

MIN_DELAY_SHARE = 0.9
"""A delay has been seen when it is this share of it; the rest is noise of the measurement."""
MIN_HOLD_S = 0.02
"""What bytes are held by a toxic that has no delay of its own, and not by a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelaySeen(Evidence):
    """The client's bytes came out of the proxy up to `delay_s` later than they had gone in."""

    name: ClassVar[str] = "delay_seen"
    meaning: ClassVar[str] = "the client's bytes came out of the proxy later than they went in"

    delay_s: float = 0.0

    def __add__(self, other: Self) -> Self:
        return type(self)(delay_s=max(self.delay_s, other.delay_s))

    def sentence(self) -> str:
        return f"delayed bytes by {self.amount:.3f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndHeld(DelaySeen):
    """The end of a client's connection came out of the proxy `delay_s` after it had gone in."""

    name: ClassVar[str] = "end_held"
    meaning: ClassVar[str] = "the end of a connection came out of the proxy later than it went in"

    def sentence(self) -> str:
        return f"held the end of a connection for {self.amount:.3f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesSwallowed(Evidence):
    """`bytes` went into the proxy and never came out; `connections` of clients were closed since nothing had come, or
    with the toxic's removal. Those are seen by each of its directions."""

    name: ClassVar[str] = "bytes_swallowed"
    meaning: ClassVar[str] = "bytes went into the proxy and never came out, or it closed connections"

    bytes: int = 0
    connections: int = 0

    def sentence(self) -> str:
        closed = " and closed connections" if self.connections else ""
        return f"swallowed {quantity(self.bytes, 'byte')}{closed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesSliced(Evidence):
    """Bytes came out of the proxy in `slices` more segments than they went in."""

    name: ClassVar[str] = "bytes_sliced"
    meaning: ClassVar[str] = "bytes came out of the proxy in more segments than they went in"

    slices: int = 0

    def sentence(self) -> str:
        return f"made {quantity(self.amount, 'more segment')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionsEnded(Evidence):
    """`connections` were ended by the proxy: nobody else had ended them before."""

    name: ClassVar[str] = "connections_ended"
    meaning: ClassVar[str] = "the proxy ended connections by itself"

    connections: int = 0

    def sentence(self) -> str:
        return f"ended {quantity(self.amount, 'connection')}"


Attributes = Mapping[str, int]


def _one(attributes: Attributes) -> float:
    return 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxicKind:
    """`attributes` are Toxiproxy's own names, `enough` is the least amount of `evidence` that counts as an effect."""

    attributes: frozenset[str]
    evidence: type[Evidence]
    enough: Callable[[Attributes], float] = _one


TOXIC_KINDS: dict[str, ToxicKind] = {
    "latency": ToxicKind(
        attributes=frozenset({"latency", "jitter"}),
        evidence=DelaySeen,
        enough=lambda ms: MIN_DELAY_SHARE * (ms["latency"] - ms.get("jitter", 0)) / 1000,
    ),
    "bandwidth": ToxicKind(attributes=frozenset({"rate"}), evidence=DelaySeen, enough=lambda _: MIN_HOLD_S),
    "slow_close": ToxicKind(
        attributes=frozenset({"delay"}), evidence=EndHeld, enough=lambda ms: MIN_DELAY_SHARE * ms["delay"] / 1000
    ),
    "timeout": ToxicKind(attributes=frozenset({"timeout"}), evidence=BytesSwallowed),
    "slicer": ToxicKind(attributes=frozenset({"average_size", "size_variation", "delay"}), evidence=BytesSliced),
    "limit_data": ToxicKind(attributes=frozenset({"bytes"}), evidence=ConnectionsEnded),
    "reset_peer": ToxicKind(attributes=frozenset({"timeout"}), evidence=ConnectionsEnded),
}
"""By Toxiproxy's name. Source: Shopify/toxiproxy v2.12.0 toxics/."""


@lever("toxic")
@dataclass(frozen=True, slots=True, kw_only=True)
class Toxic(BrokerLever):
    """A Toxiproxy toxic on one broker's proxy.

    `to_broker` is Toxiproxy's upstream, `to_client` its downstream. `attributes` are Toxiproxy's own names, in its own
    units (latency and jitter: milliseconds). `toxicity` is how likely a connection is affected.

    Evidence: that of its kind in TOXIC_KINDS.
    """

    flow: Flow
    kind: str
    attributes: tuple[tuple[str, int], ...] = field(default=())
    toxicity: float = 1.0

    @property
    def where(self) -> str:
        return f"broker {self.broker} ({self.flow})"

    @property
    def evidence(self) -> type[Evidence]:
        return TOXIC_KINDS[self.kind].evidence

    @property
    def enough(self) -> float:
        return TOXIC_KINDS[self.kind].enough(dict(self.attributes))

    @property
    def lasts(self) -> bool:
        return self.evidence in (BytesSwallowed, ConnectionsEnded, EndHeld)

    @property
    def acts_while_undone(self) -> bool:
        return self.kind in ("reset_peer", "timeout")

    @property
    def cuts_when_undone(self) -> bool:
        """Whether connections end with its removal, so that their clients dial again at that moment."""
        return self.kind == "timeout"

    def unsupported_reason(self) -> str | None:
        """Why its effect cannot be proven, as the end of `... cannot`; None where it can."""
        known = TOXIC_KINDS.get(self.kind)
        if known is None:
            return f"make the toxic {self.kind}: what can be proven is {', '.join(TOXIC_KINDS)}"
        for attribute, _ in self.attributes:
            if attribute not in known.attributes:
                has = ", ".join(sorted(known.attributes))
                return f"make the toxic {self.kind} with {attribute}: it has {has}"
        return None
