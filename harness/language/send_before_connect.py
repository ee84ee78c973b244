"""A bundled client sends with what `connect` has constructed: without that step it can only refuse."""

from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Mapping, Scalar, Sequence, Tree

CONNECT, NEEDS_IT = "connect", "send"


def report_send_before_connect(steps: Tree | None, diagnostics: Diagnostics) -> None:
    """Note the first send that stands before any connect."""
    for step in steps.items if isinstance(steps, Sequence) else ():
        done = step.get("do") if isinstance(step, Mapping) else None
        if not isinstance(done, Scalar):
            continue
        if done.text == CONNECT:
            return
        if done.text == NEEDS_IT:
            message = "nothing is constructed yet that could send: no step before this one connects"
            diagnostics.add(done.span, "not-connected", message, "add - {do: connect} before it")
            return
