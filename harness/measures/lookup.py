"""Looking at a story: the operation called so, the part of the subject's trace that lies within it, its waits."""

from collections.abc import Sequence

from client.events import TraceKind
from harness.measures.base import Missing
from harness.measures.trace import CLIENT_EVENT_KINDS, Wait, trace_of
from harness.memo import memoize_last
from harness.plan import PlannedOperation, ResolvedValue, RunPlan
from harness.story import Event, OperationStory, Story


def operation_of(story: Story, alias: str) -> OperationStory | Missing:
    """The operation called `alias`, or why there is none."""
    for operation in story.operations:
        if operation.alias == alias:
            return operation
    return Missing(f"`{alias}` never ran")


def operation_name(plan: RunPlan, alias: str) -> str | None:
    """Which operation the step called `alias` does; None where no step is called so."""
    return next(
        (step.operation for step in plan.steps if isinstance(step, PlannedOperation) and step.alias == alias), None
    )


def events_during(story: Story, operation: OperationStory) -> tuple[Event, ...]:
    """The subject's trace between an operation's start and its end, in the order in which the subject told it.

    What other operations do meanwhile is in it.
    """
    return trace_of(story).for_operation(operation).subject_events


def missing_trace(plan: RunPlan, story: Story, *kinds: TraceKind) -> Missing | None:
    """Why nothing can be said of these kinds of events; None where their absence means that there were none.

    A bundled client traces all that it does. Another program is believed to trace a kind once it has told one.
    """
    subject_events = trace_of(story).kinds
    for kind in kinds:
        if kind in subject_events:
            return None
    if plan.client.driver == "bundled" and not subject_events.isdisjoint(CLIENT_EVENT_KINDS):
        return None
    return Missing(f"the client's trace has no {' or '.join(kinds)}")


def count_during(story: Story, operation: OperationStory, kind: TraceKind) -> int:
    """How many events of this kind the subject told between an operation's start and its end."""
    return len([happening for happening in events_during(story, operation) if happening.kind == kind])


def dials_seen(story: Story) -> tuple[int, ...]:
    """When the wire showed dials, for a client that tells of none."""
    return trace_of(story).dials_seen


def waits_during(story: Story, operation: OperationStory) -> tuple[Wait, ...]:
    """The waits that began during the operation, in order of their beginning, and those that ended in it.

    A wait that spans the whole operation (a background timer) is none of its own.
    """
    return trace_of(story).for_operation(operation).waits


def waits_on(story: Story, operation: OperationStory, setting: str) -> Sequence[Wait]:
    """Those of `waits_during` that wait on this setting."""
    return trace_of(story).for_operation(operation).waits_on.get(setting, ())


def full_setting_name(plan: RunPlan, setting: str) -> str:
    """A setting's full name from any dotted end of it that is unique; the text itself where none is."""
    names = _names(plan.settings)
    if setting in names:
        return setting
    ends = [name for name in names if name.endswith(f".{setting}")]
    return ends[0] if len(ends) == 1 else setting


@memoize_last
def _names(settings: tuple[ResolvedValue, ...]) -> dict[str, None]:
    return dict.fromkeys(named.name for named in settings)


def settings_waited_on(waits: tuple[Wait, ...]) -> tuple[str, ...]:
    """Each setting once, in the order in which it was first waited on."""
    return tuple(dict.fromkeys(wait.setting for wait in waits))
