"""Settings that are right one by one and that the client refuses together: said before anything starts."""

from collections.abc import Iterable, Mapping

from client.settings import Conflict
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import Entry
from harness.operations import names_where
from harness.plan import PlannedOperation, Step

CODE = "setting-conflict"
REFUSED = "{do: connect, expect: failed}"
"""What a scenario says whose subject is that refusal."""


def expects_refusal(steps: Iterable[Step]) -> bool:
    """Whether the client is expected not to be constructed."""
    constructing = names_where(lambda operation: operation.constructs)
    return any(
        isinstance(step, PlannedOperation) and step.operation in constructing and step.expect == "failed"
        for step in steps
    )


def report_conflicts(conflicts: Iterable[Conflict], entries: Mapping[str, Entry], diagnostics: Diagnostics) -> None:
    """Note each where the setting stands that has to change, else where that stands which asks for the change: there
    too where an option of the command line asks, which any file could not know of."""
    for one in conflicts:
        asking, other = entries.get(one.setting), entries.get(one.other)
        of_option = asking is not None and asking.value.span.given
        if asking is not None and of_option and not (other is not None and other.value.span.given):
            diagnostics.add(asking.value.span, CODE, one.error.text, f"add --set {one.other}={one.wanted}")
        elif other is not None:
            diagnostics.add(other.value.span, CODE, one.error.text, _hint("write", one, other.value.span))
        else:
            assert asking is not None, f"{one.setting} and {one.other} contradict each other by default"
            diagnostics.add(asking.key.span, CODE, one.error.text, _hint("add", one, asking.key.span))


def _hint(verb: str, one: Conflict, span: Span) -> str:
    if span.given:
        return f"{verb} --set {one.other}={one.wanted}"
    return f"{verb} {one.other}: {one.wanted}; where this error is what is tested, write {REFUSED}"
