"""A caller's `deadline:` means nothing to an operation of the real client that takes none: such a step is refused."""

from client.profiles.contract import Profile
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, SequenceNode, Tree

_KEY = "deadline"


def report_deadlines(steps: Tree | None, profile: Profile, diagnostics: Diagnostics) -> None:
    """Note every deadline of an operation that takes none, with the reason."""
    for step in steps.items if isinstance(steps, SequenceNode) else ():
        if not isinstance(step, MappingNode) or _KEY not in step.entries:
            continue
        operation = step.get("do")
        reason = profile.no_deadline.get(operation.text) if isinstance(operation, ScalarNode) else None
        if reason is not None:
            assert isinstance(operation, ScalarNode)
            message = f"the {operation.text} of {profile.name} takes no deadline: {reason}"
            diagnostics.add(step.entries[_KEY].key.span, "no-deadline", message, "remove `deadline`")
