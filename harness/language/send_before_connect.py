"""A bundled client sends with what `connect` has constructed: without that step it can only refuse."""

from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, SequenceNode, Tree
from harness.operations import OPERATIONS


def report_send_before_connect(steps: Tree | None, diagnostics: Diagnostics) -> None:
    """Report the first send before any connect that may succeed."""
    for step in steps.items if isinstance(steps, SequenceNode) else ():
        done, expect = (step.get("do"), step.get("expect")) if isinstance(step, MappingNode) else (None, None)
        if not isinstance(done, ScalarNode) or done.text not in OPERATIONS:
            continue
        if OPERATIONS[done.text].constructs and not (isinstance(expect, ScalarNode) and expect.text == "failed"):
            return
        if OPERATIONS[done.text].needs_client:
            message = "nothing is constructed yet that could send: no step before this one connects"
            diagnostics.add(done.span, "not-connected", message, "add - {do: connect} before it")
            return
