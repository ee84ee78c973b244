"""Whether a fault had an effect: what its levers' evidence amounts to, and the sentence that says it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.environments.world import Evidence
from harness.faults.base import FaultModel
from harness.levers import FilterPackets, Lever, Toxic


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofResult:
    """`count` is in the unit of what the proof counts: packets, dials, seconds."""

    count: float
    proven: bool
    finding: str


@dataclass(frozen=True, slots=True)
class _ProofMetric:
    of: Callable[[Evidence], float]
    total: Callable[[Sequence[float]], float]
    sentence: Callable[[float], str]


def _plural(count: float, noun: str) -> str:
    return f"{count:.0f} {noun}" if count == 1 else f"{count:.0f} {noun}s"


_PROOF_METRICS: Mapping[str, _ProofMetric] = {
    "packets_dropped": _ProofMetric(lambda e: e.packets, sum, lambda n: f"dropped {_plural(n, 'packet')}"),
    "connections_refused": _ProofMetric(lambda e: e.refusals, sum, lambda n: f"refused {_plural(n, 'dial')}"),
    "connections_cut": _ProofMetric(
        lambda e: e.connections + e.refusals, sum, lambda n: f"cut or refused {_plural(n, 'connection')}"
    ),
    "requests_unread": _ProofMetric(
        lambda e: e.unread, sum, lambda n: f"left {_plural(n, 'connection')} with unread requests"
    ),
    "requests_intercepted": _ProofMetric(
        lambda e: e.intercepted, sum, lambda n: f"intercepted {_plural(n, 'request')}"
    ),
    "delay_seen": _ProofMetric(lambda e: e.delay_s or 0.0, max, lambda s: f"delayed a probe by {s:.3f} s"),
}


def check_proof(fault: FaultModel, seen: Sequence[tuple[Lever, Evidence]]) -> ProofResult:
    """Hold what was seen of a fault's levers against what its class declares as its proof."""
    counted = _PROOF_METRICS[fault.proof.counted]
    if not seen:
        return ProofResult(count=0.0, proven=False, finding="pulled no lever: nothing was tested")
    effects = [float(counted.of(evidence)) for _, evidence in seen]
    total, min_effect = counted.total(effects), fault.min_effect()
    sentence = counted.sentence(total)
    idle = [lever for (lever, _), effect in zip(seen, effects, strict=True) if effect < min_effect]
    if fault.proof.scope == "each_lever" and idle and len(idle) < len(seen):
        where = ", ".join(_location(lever) for lever in idle)
        return ProofResult(
            count=total, proven=False, finding=f"{sentence}, but too little at {where}: not all was tested"
        )
    if len(idle) < len(seen):
        return ProofResult(count=total, proven=True, finding=sentence)
    if fault.proof.counted == "delay_seen" and all(evidence.delay_s is None for _, evidence in seen):
        return ProofResult(count=0.0, proven=False, finding="was seen by no probe: nothing was tested")
    short = f", less than the {min_effect:g} that would prove it" if total > 0 else ""
    return ProofResult(count=total, proven=False, finding=f"{sentence}{short}: nothing was tested")


def _location(lever: Lever) -> str:
    return (
        f"broker {lever.broker} ({lever.flow})"
        if isinstance(lever, FilterPackets | Toxic)
        else f"broker {lever.broker}"
    )
