"""A client that was closed as a whole has ended, and its process with it: nothing can be called any more."""

from collections.abc import Sequence

from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Tree, at
from harness.operations import OPERATIONS
from harness.operations.base import HANDLE
from harness.plan import PlannedFault, PlannedOperation, Step

PATIENT_S = 60.0
"""No close of a healthy client takes so long."""


def report_calls_after_close(steps: Sequence[Step], trees: Sequence[Tree], diagnostics: Diagnostics) -> None:
    """Note the first operation behind such a close.

    A close that meets a fault, or is given up, may not have ended by then: what comes behind it shows in the run.
    """
    closed = False
    for step, tree in zip(steps, trees, strict=True):
        if isinstance(step, PlannedFault) and not closed:
            return
        if not isinstance(step, PlannedOperation):
            continue
        if closed:
            where = at(tree, ("do",))
            diagnostics.add(where, "closed", "an earlier step closes the client", "remove this step, or close later")
            return
        whole = OPERATIONS[step.operation].closes and HANDLE.name not in step.arguments
        closed = whole and not step.background and step.give_up_after_s >= PATIENT_S
