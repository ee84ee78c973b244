"""Whether a fault had an effect: what its levers' evidence amounts to, and the sentence that says it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from harness.faults.base import FaultModel
from harness.levers import Evidence, Lever


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofResult:
    """`count` is in the unit of what the proof counts: packets, dials, seconds."""

    count: float
    proven: bool
    finding: str


NOTHING_PULLED = ProofResult(count=0.0, proven=False, finding="pulled no lever: nothing was tested")


def check_proof(fault: FaultModel, seen: Sequence[tuple[Lever, Evidence]]) -> ProofResult:
    """Compare what was seen of a fault's levers with what its class declares as its proof.

    A lever whose evidence is of another kind has done nothing that would prove the fault.
    """
    if not seen:
        return NOTHING_PULLED
    proof = fault.proven_by()
    kind = proof.evidence
    effects = [kind.of(evidence) for _, evidence in seen]
    together = reduce(add, effects)
    count, finding = together.amount, together.sentence()
    idle = [lever for (lever, _), effect in zip(seen, effects, strict=True) if effect.amount < lever.enough]
    if proof.scope == "each_lever" and 0 < len(idle) < len(seen):
        where = ", ".join(lever.where for lever in idle)
        return ProofResult(
            count=count, proven=False, finding=f"{finding}, but too little at {where}: not all was tested"
        )
    if len(idle) < len(seen):
        return ProofResult(count=count, proven=True, finding=finding)
    enough = min(lever.enough for lever in idle)
    short = f", less than the {enough:g} that would prove it" if count > 0 else ""
    return ProofResult(count=count, proven=False, finding=f"{finding}{short}: nothing was tested")
