"""docs/FAULTS.md, made from the faults themselves: `python -m harness.language.fault_reference > docs/FAULTS.md`."""

import sys
from inspect import cleandoc
from pathlib import Path
from typing import get_args

from pydantic.fields import FieldInfo

from harness.faults import FAULTS, FaultModel, Proof
from harness.faults.brokers import SELECTORS
from harness.quantities import QUANTITIES

HEAD = """\
# Faults

What a scenario can inject. This page is generated from the faults' code; a test fails if the two differ.
A step is `{inject: <fault>, as: <name>, <parameters>}`. The fault lasts until the end of the run, unless `for: 4s` or a
later step `{heal: <name>}` heals it. A run whose fault has no proven effect is inconclusive.

With `every: 10s, times: 6` a fault recurs: it is injected again 10 s after each injection, six times in all, and its
occurrences are called `outage`, `outage#2`, `outage#3`. An occurrence that is still active is healed before the next;
a step `{heal: outage}` ends the recurrence; no occurrence is healed by a step of its own. `at: outage` waits for the
first occurrence, `at: outage+20s` until the third is injected. `after: {uniform: [0s, 1s]}` starts any step at a time
drawn from the run's seed: without it every repeat meets the client's own timers in the same phase.

With `trigger: {request: produce, nth: 3, broker: 1}` a fault is injected when that request arrives. The broker holds
the request until the fault is confirmed, then handles it, so the fault meets the client at the same point in every
run. Requests count from this step on. The step ends as soon as the trigger is armed, so the step that sends comes after
it. A run whose request never arrives is inconclusive.

## Several faults at once

Several faults may be active on one broker, and heal in any order. If two of them apply to the same packet or request,
the one injected first decides: later ones never see what it drops, refuses, resets or answers, and it is no proof of
theirs. Delays add up.

A fault that an earlier one makes impossible is refused by `faultlab validate`, where that is certain: a second
`scale_down` of the same broker, or one that empties the cluster; a `leader(orders/0)` after a `no_leader`; a `restart`
of a killed broker; `others` where every broker has a fault; a `leader_move` to a broker that only a later `scale_up`
adds. After a fault with `for:` or `every:` that is so for the step right behind it, if it begins before that is over.
A broker that has left the cluster keeps its address and its process, which other faults may still strike.

## Selecting brokers

A parameter that names brokers takes one of these. A broker that is selected twice counts once.

| selector | meaning |
| --- | --- |
"""

EXACTNESS = """
## Declared and achieved

What faults of links declare, and what packets see of it in a cell (`bench/links.py`, which makes this table). Where
more packets come than a hold can send on in time, the run is inconclusive.

| fault | declared | achieved |
| --- | --- | --- |
"""
ACHIEVED = Path(__file__).with_name("achieved.md")
"""Its rows."""


def reference() -> str:
    """The page: every fault with its parameters, what pulls it, and what proves it."""
    selectors = "".join(f"| `{selector}` | {meaning} |\n" for selector, meaning in SELECTORS.items())
    return (
        HEAD
        + selectors
        + EXACTNESS
        + ACHIEVED.read_text()
        + "".join(_section(name, fault) for name, fault in sorted(FAULTS.items()))
    )


def _section(name: str, fault: type[FaultModel]) -> str:
    summary, _, more = cleandoc(fault.__doc__ or "").partition("\n\n")
    rows = "".join(_row(parameter, schema) for parameter, schema in _parameters(fault))
    proofs = [_proof(fault.proof), *(f"with `{p}: {v}`, {_proof(proof)}" for (p, v), proof in fault.proofs.items())]
    text = f"\n## {name}\n\n{summary}\n\n" + (f"{more}\n\n" if more else "")
    table = f"| parameter | default | meaning |\n| --- | --- | --- |\n{rows}"
    return f"{text}{table}\nProof: {'; '.join(proofs)}.\n"


def _proof(proof: Proof) -> str:
    scope = "each of its levers" if proof.scope == "each_lever" else "one of its levers at least"
    return f"{proof.evidence.meaning}, by {scope}"


def _parameters(fault: type[FaultModel]) -> list[tuple[str, tuple[str, str]]]:
    found: list[tuple[str, tuple[str, str]]] = []
    for parameter, info in fault.model_fields.items():
        default = "required" if info.is_required() else _shown(info)
        found.append((parameter, (default, info.description or "")))
    return found


def _row(parameter: str, cells: tuple[str, str]) -> str:
    return f"| `{parameter}` | {cells[0]} | {cells[1].replace('|', chr(92) + '|')} |\n"


def _shown(info: FieldInfo) -> str:
    """A default as a scenario writes it."""
    value = info.get_default(call_default_factory=True)
    if value in (None, {}):
        return "none"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    # What reads a quantity tells its field from a plain number's.
    written = (each.writes(value) for each in QUANTITIES if get_args(each.field)[1] in info.metadata)
    return f"`{next(written, value)}`"


if __name__ == "__main__":
    sys.stdout.write(reference())
