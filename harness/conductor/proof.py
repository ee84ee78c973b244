"""Whether a fault had an effect: what its levers' evidence amounts to, and the sentence that says it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.environments.world import Evidence
from harness.faults.base import FaultModel
from harness.levers import Lever, Packets, Toxic


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """`count` is in the unit of what the proof counts: packets, dials, seconds."""

    count: float
    proven: bool
    finding: str


@dataclass(frozen=True, slots=True)
class _Counted:
    of: Callable[[Evidence], float]
    total: Callable[[Sequence[float]], float]
    sentence: Callable[[float], str]


def _plural(count: float, noun: str) -> str:
    return f"{count:.0f} {noun}" if count == 1 else f"{count:.0f} {noun}s"


_COUNTED: Mapping[str, _Counted] = {
    "packets_dropped": _Counted(lambda e: e.packets, sum, lambda n: f"dropped {_plural(n, 'packet')}"),
    "connections_refused": _Counted(lambda e: e.refusals, sum, lambda n: f"refused {_plural(n, 'dial')}"),
    "connections_cut": _Counted(
        lambda e: e.connections + e.refusals, sum, lambda n: f"cut or refused {_plural(n, 'connection')}"
    ),
    "requests_unread": _Counted(
        lambda e: e.unread, sum, lambda n: f"left {_plural(n, 'connection')} with unread requests"
    ),
    "requests_intercepted": _Counted(lambda e: e.intercepted, sum, lambda n: f"intercepted {_plural(n, 'request')}"),
    "delay_seen": _Counted(lambda e: e.delay_s or 0.0, max, lambda s: f"delayed a probe by {s:.3f} s"),
}


def prove(fault: FaultModel, seen: Sequence[tuple[Lever, Evidence]]) -> Proven:
    """Hold what was seen of a fault's levers against what its class declares as its proof."""
    counted = _COUNTED[fault.proof.counted]
    if not seen:
        return Proven(count=0.0, proven=False, finding="pulled no lever: nothing was tested")
    effects = [float(counted.of(evidence)) for _, evidence in seen]
    total, enough = counted.total(effects), fault.enough()
    sentence = counted.sentence(total)
    idle = [lever for (lever, _), effect in zip(seen, effects, strict=True) if effect < enough]
    if fault.proof.scope == "each_lever" and idle and len(idle) < len(seen):
        where = ", ".join(_place(lever) for lever in idle)
        return Proven(count=total, proven=False, finding=f"{sentence}, but too little at {where}: not all was tested")
    if len(idle) < len(seen):
        return Proven(count=total, proven=True, finding=sentence)
    if fault.proof.counted == "delay_seen" and all(evidence.delay_s is None for _, evidence in seen):
        return Proven(count=0.0, proven=False, finding="was seen by no probe: nothing was tested")
    short = f", less than the {enough:g} that would prove it" if total > 0 else ""
    return Proven(count=total, proven=False, finding=f"{sentence}{short}: nothing was tested")


def _place(lever: Lever) -> str:
    return f"broker {lever.broker} ({lever.flow})" if isinstance(lever, Packets | Toxic) else f"broker {lever.broker}"
