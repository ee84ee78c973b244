"""Steps that wait for what cannot come: such a run is stopped at its limit."""

from collections.abc import Sequence

from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Tree, at
from harness.operations.send import SEND
from harness.plan import PlannedFault, PlannedHealing, PlannedOperation, Step
from harness.quantities import quote_value

SENT = "produce"
"""The request that a client makes for sends alone. Others it may make at any time."""


def report_endless_waits(steps: Sequence[Step], trees: Sequence[Tree], diagnostics: Diagnostics) -> None:
    """Note every step whose `at` names a fault with a trigger while nothing sends the request that injects it."""
    for number, step in enumerate(steps):
        armed = next((n for n, one in enumerate(steps[:number]) if _waited_for(one, step)), None)
        if armed is None or _may_be_sending(steps[:armed]) or _calls(steps[armed + 1 : number], steps[armed].alias):
            continue
        message = f"`at` waits for {quote_value(steps[armed].alias)}, but nothing sends its {SENT} request before"
        diagnostics.add(at(trees[number], ("at",)), "endless-wait", message, "let a step send between the two")


def _waited_for(fault: Step, step: Step) -> bool:
    triggered = isinstance(fault, PlannedFault) and fault.trigger is not None and fault.trigger.request == SENT
    return triggered and fault.alias == step.when.alias


def _may_be_sending(earlier: Sequence[Step]) -> bool:
    """Whether a send of these may be under way behind them, or be tried again."""
    sends = (one for one in earlier if isinstance(one, PlannedOperation) and one.operation == SEND.name)
    return any(one.background or one.expect != "acknowledged" for one in sends)


def _calls(between: Sequence[Step], alias: str) -> bool:
    """Whether the client is called before the fault is healed, which disarms it."""
    for step in between:
        if isinstance(step, PlannedOperation):
            return True
        if isinstance(step, PlannedHealing) and step.alias == alias:
            return False
    return False
