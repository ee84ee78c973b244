"""A caller's `deadline:` means nothing to an operation of the real client that takes none: such a step is refused."""

from client.profiles.contract import Profile
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, SequenceNode, Tree
from harness.operations import OPERATIONS

_KEY = "deadline"


def report_deadlines(steps: Tree | None, profile: Profile, diagnostics: Diagnostics) -> None:
    """Note every deadline that the client's operation ignores, with the reason.

    Operations without such an argument are left to the reader of steps: one mistake is one problem.
    """
    for step in steps.items if isinstance(steps, SequenceNode) else ():
        if not isinstance(step, MappingNode) or _KEY not in step.entries:
            continue
        operation = step.get("do")
        if not isinstance(operation, ScalarNode) or operation.text not in OPERATIONS:
            continue
        takes_it = any(argument.name == _KEY for argument in OPERATIONS[operation.text].arguments)
        reason = profile.no_deadline.get(operation.text)
        if takes_it and reason is not None:
            message = f"the {operation.text} of {profile.name} takes no deadline: {reason}"
            diagnostics.add(step.entries[_KEY].key.span, "no-deadline", message, "remove `deadline`")
