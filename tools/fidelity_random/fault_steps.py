"""Faults by chance: one, two in a row, or two that overlap."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from tools.fidelity_random.chance import Step, likely, time
from tools.fidelity_random.shape import TOPIC, Shape

Kind = Literal["packets", "proxy", "dials", "requests", "process", "cluster"]
"""What a fault is about. One of `dials` tests nothing while everything is connected. What is asked of a broker's
process, or shown by a probe through its proxy, is not to be had while it is down."""

HEALS = (0.4, 2.5)
"""After how many seconds, at least and at most, a fault heals that does."""
ERRORS = ("NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS",
          "MESSAGE_TOO_LARGE", "KAFKA_STORAGE_ERROR")  # fmt: skip
DAMAGES = ("negative_size", "huge_size", "zero_size", "cut", "garbage")
TLS = ("stall", "stall", "cut", "expired", "foreign", "wrong_name")
SASL = ("stall", "refuse", "other_mechanisms")
GUARDED = 0.5
"""Where something guards the way in: the part of the faults that are about it."""
DELAYS = ("latency", "slow_answer", "slow_broker")
"""What lets requests through, so that another fault can meet them at the same time."""
COMPANIONS: Mapping[Kind, tuple[Kind, ...]] = {
    "packets": ("packets", "requests", "dials", "process"),
    "proxy": ("packets", "requests"),
    "dials": ("packets",),
    "requests": ("packets", "requests"),
    "process": ("packets",),
    "cluster": ("packets", "requests"),
}
"""What may be in force beside it, or come after it."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A fault and how its parameters are drawn, for the partition that the first sender writes to.

    `whole`: it strikes what its parameters name, not brokers. `needs_replicas`: only where others can lead. `needs`: of
    a shape, for what guards the way in.
    """

    fault: str
    kind: Kind
    parameters: Callable[[Random, Shape, int], dict[str, object]] = lambda _rng, _shape, _partition: {}
    whole: bool = False
    needs_replicas: bool = False
    needs: Literal["tls", "sasl", "names"] | None = None

    def fits(self, shape: Shape) -> bool:
        guarded = self.needs is None or bool(getattr(shape, self.needs))
        return guarded and (shape.replicated or not self.needs_replicas)


FAULTS = (
    FaultKind("blackhole", "packets"),
    FaultKind("blackhole", "packets", lambda rng, _, __: {"flows": [rng.choice(["to_broker", "to_client"])]}),
    FaultKind("drop", "packets", lambda _, __, ___: {"only": "data"}),
    FaultKind("reset", "packets", lambda rng, _, __: {"upon": rng.choice(["request", "answer"]), "times": 1}),
    FaultKind("reset", "packets", lambda rng, _, __: {"upon": rng.choice(["request", "answer"])}),
    FaultKind("latency", "proxy", lambda rng, _, __: {"delay": time(rng, 0.02, 0.4)}),
    FaultKind("slow_dial", "dials", lambda rng, _, __: {"delay": time(rng, 0.03, 1.8)}),
    FaultKind("drop", "dials", lambda _, __, ___: {"only": "syn"}),
    FaultKind("refuse", "dials", lambda _, __, ___: {"by": "firewall"}),
    FaultKind("silence", "requests", lambda rng, _, __: {"api": rng.choice(["produce", "all"])}),
    FaultKind("slow_answer", "requests", lambda rng, _, __: {"delay": time(rng, 0.1, 1.2)}),
    FaultKind("slow_broker", "requests", lambda rng, _, __: {"delay": time(rng, 0.1, 1.2)}),
    FaultKind("error_answer", "requests", lambda rng, _, __: {"code": rng.choice(ERRORS), **_once(rng)}),
    FaultKind("correlation_mismatch", "requests", lambda rng, _, __: {"api": "produce", **_once(rng)}),
    FaultKind("bad_frame", "requests", lambda rng, _, __: {"damage": rng.choice(DAMAGES), "api": "produce",
                                                           **_once(rng)}),
    FaultKind("kill", "process", lambda rng, shape, _: {"election": time(rng, 0.3, 2.5)} if shape.replicated else {}),
    FaultKind("pause", "process"),
    FaultKind("restart", "process"),
    FaultKind("refuse", "process", lambda _, __, ___: {"by": "listener"}),
    FaultKind("scale_down", "cluster", lambda rng, shape, partition: _departure(rng, shape.leaders[partition]),
              whole=True, needs_replicas=True),
    FaultKind("leader_move", "cluster", lambda _, __, partition: {"partition": f"{TOPIC}/{partition}"}, whole=True,
              needs_replicas=True),
    FaultKind("no_leader", "cluster", lambda _, __, partition: {"partition": f"{TOPIC}/{partition}"}, whole=True),
    FaultKind("unknown_topic", "cluster", lambda _, __, ___: {"topic": TOPIC}, whole=True),
    FaultKind("tls", "dials", lambda rng, _, __: {"how": rng.choice(TLS), **_once(rng)}, needs="tls"),
    FaultKind("sasl", "dials", lambda rng, _, __: {"how": rng.choice(SASL), **_once(rng)}, needs="sasl"),
    FaultKind("dns", "dials", lambda rng, shape, _: _names(rng, shape), needs="names"),
)  # fmt: skip
_HEALED_BY_ITSELF = ("restart",)


def _once(rng: Random) -> dict[str, object]:
    return {"nth": 1} if likely(rng, 0.6) else {}


def _names(rng: Random, shape: Shape) -> dict[str, object]:
    how = rng.choice(["slow", "empty", "wrong", "dead_first"])
    more: dict[str, dict[str, object]] = {
        "slow": {"delay": time(rng, 0.05, 1.5)},
        "wrong": {"to": rng.choice(["refused", "dark", "another"] if shape.brokers > 1 else ["refused", "dark"])},
        "dead_first": {"family": rng.choice(["ipv4", "ipv6"])},
    }
    return {"how": how, **more.get(how, {})}


def _departure(rng: Random, leader: int) -> dict[str, object]:
    drawn: dict[str, object] = {"brokers": [leader], "then": rng.choice(["refuse", "blackhole"])}
    if likely(rng, 0.3):
        drawn |= {"first": "ports", "election": time(rng, 0.3, 1.5)}
    return drawn


def draw_kind(rng: Random, shape: Shape, *kinds: Kind, among: Sequence[FaultKind] = FAULTS) -> FaultKind:
    """A fault of one of these kinds that the cluster can have; of any kind without any."""
    possible = [one for one in among if (not kinds or one.kind in kinds) and one.fits(shape)]
    guards = [one for one in possible if one.needs is not None]
    return rng.choice(guards if guards and likely(rng, GUARDED) else possible)


def inject(rng: Random, kind: FaultKind, shape: Shape, partition: int, alias: str, *, heals: bool) -> Step:
    """The step: on all brokers, or on the leader of this partition."""
    step: Step = {"inject": kind.fault, "as": alias}
    if not kind.whole:
        step["brokers"] = "all" if shape.brokers == 1 or likely(rng, 0.5) else [shape.leaders[partition]]
    step |= kind.parameters(rng, shape, partition)
    if heals and kind.fault not in _HEALED_BY_ITSELF:
        step["for"] = time(rng, *HEALS)
    return step


@dataclass(frozen=True, slots=True)
class DrawnFaults:
    """What is injected before the first messages, and what before those that follow: maybe nothing."""

    first: tuple[Step, ...]
    second: tuple[Step, ...] = ()


def draw_faults(
    rng: Random, shape: Shape, partition: int, disconnect: Sequence[Step], among: Sequence[FaultKind] = FAULTS
) -> DrawnFaults:
    """For a client that is connected. Where dials are struck, `disconnect` follows, which makes it dial."""
    kind = draw_kind(rng, shape, among=among)
    if kind.kind == "dials":
        step = inject(rng, kind, shape, partition, "first", heals=likely(rng, 0.3))
        return DrawnFaults((step, *disconnect))
    if likely(rng, 0.5):
        return DrawnFaults((inject(rng, kind, shape, partition, "first", heals=likely(rng, 0.6)),))
    other = draw_kind(rng, shape, *COMPANIONS[kind.kind], among=among)
    first = inject(rng, kind, shape, partition, "first", heals=True)
    second = inject(rng, other, shape, partition, "second", heals=likely(rng, 0.3))
    if kind.fault == "scale_down" and "brokers" in second:
        second["brokers"] = "all"  # the leader may be no member any more
    if other.kind == "dials":
        return DrawnFaults((first,), (second, *disconnect))
    if kind.fault in DELAYS and other.kind == "requests" and likely(rng, 0.6):
        return DrawnFaults((first, second))
    return DrawnFaults((first,), (second,))


def reset(shape: Shape, partition: int) -> Step:
    """The leader's connection ends with the next request on it."""
    return {"inject": "reset", "as": "cut", "brokers": [shape.leaders[partition]], "upon": "request", "times": 1}


def draw_cold_faults(rng: Random, shape: Shape) -> tuple[Step, ...]:
    """For a client that is not there yet: its dials meet them."""
    kind = draw_kind(rng, shape, "packets", "dials", "process")
    while kind.fault in _CONNECTED_ONLY:
        kind = draw_kind(rng, shape, "packets", "dials", "process")
    step = inject(rng, kind, shape, 0, "first", heals=likely(rng, 0.6))
    return ({**step, "brokers": "all"},)


_CONNECTED_ONLY = ("restart", "kill")
