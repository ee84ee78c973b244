"""Toxics: what Toxiproxy does to the bytes that pass through one broker's proxy.

A kind of toxic is in `TOXIC_KINDS` with the evidence that proves it; `harness.environments.probe.PROBES` has the probe
that collects this evidence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from harness.levers.base import BrokerLever, Evidence, Flow, lever

MIN_DELAY_SHARE = 0.9
"""A probe has seen the delay when its round trip grew by this share of it; the rest is the probe's own noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelaySeen(Evidence):
    """A probe's round trip took `delay_s` longer than before the lever was pulled; None: no probe was answered."""

    name: ClassVar[str] = "delay_seen"
    meaning: ClassVar[str] = "a probe through the proxy saw the delay"
    unknown: ClassVar[str] = "was seen by no probe"

    delay_s: float | None = None

    @property
    def amount(self) -> float:
        return self.delay_s or 0.0

    @property
    def known(self) -> bool:
        return self.delay_s is not None

    def __add__(self, other: Self) -> Self:
        return type(self)(delay_s=max(self.amount, other.amount) if self.known or other.known else None)

    def sentence(self) -> str:
        return f"delayed a probe by {self.amount:.3f} s"


Attributes = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxicKind:
    """`attributes` are Toxiproxy's own names. `declared_s` is the longest delay that the toxic adds to a chunk of
    bytes, `enough` the least amount of `evidence` that counts as an effect."""

    attributes: frozenset[str]
    evidence: type[Evidence]
    declared_s: Callable[[Attributes], float]
    enough: Callable[[Attributes], float]


TOXIC_KINDS: dict[str, ToxicKind] = {
    "latency": ToxicKind(
        attributes=frozenset({"latency", "jitter"}),
        evidence=DelaySeen,
        declared_s=lambda ms: (ms["latency"] + ms.get("jitter", 0)) / 1000,
        enough=lambda ms: MIN_DELAY_SHARE * (ms["latency"] - ms.get("jitter", 0)) / 1000,
    )
}
"""By Toxiproxy's name. Source: Shopify/toxiproxy v2.12.0 toxics/. A kind without a probe cannot be proven: no entry."""


@lever("toxic")
@dataclass(frozen=True, slots=True, kw_only=True)
class Toxic(BrokerLever):
    """A Toxiproxy toxic on one broker's proxy.

    `to_broker` is Toxiproxy's upstream, `to_client` its downstream. `attributes` are Toxiproxy's own names, in its own
    units (latency and jitter: milliseconds).

    Evidence: that of its kind in TOXIC_KINDS.
    """

    flow: Flow
    kind: str
    attributes: tuple[tuple[str, int], ...] = field(default=())

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
    def declared_s(self) -> float:
        """The longest delay that it adds to a chunk of bytes."""
        return TOXIC_KINDS[self.kind].declared_s(dict(self.attributes))

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
