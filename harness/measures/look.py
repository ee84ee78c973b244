"""Looking at a story: the operation called so, the part of the subject's trace that lies within it, its waits."""

from dataclasses import dataclass

from client.events import Kind
from harness.measures.base import Missing
from harness.plan import Do, RunPlan
from harness.story import Happening, OperationStory, Story, Told

SUBJECT = "subject"
TRACED = frozenset(kind.value for kind in Kind)


def operation_of(story: Story, alias: str) -> OperationStory | Missing:
    """The operation called `alias`, or why there is none."""
    for operation in story.operations:
        if operation.alias == alias:
            return operation
    return Missing(f"`{alias}` never ran")


def operation_name(plan: RunPlan, alias: str) -> str | None:
    """Which operation the step called `alias` does; None where no step is called so."""
    return next((step.operation for step in plan.steps if isinstance(step, Do) and step.alias == alias), None)


def during(story: Story, operation: OperationStory) -> tuple[Happening, ...]:
    """The subject's trace between an operation's start and its end, in the order in which the subject told it.

    Order decides, not time: on virtual time much happens at one instant. What other operations do meanwhile is in it.
    """
    found: list[Happening] = []
    inside = False
    for happening in _told_by_subject(story):
        mine = happening.fields.get("operation") == operation.alias
        if mine and happening.kind == Told.OPERATION_STARTED:
            inside = True
        elif (mine and happening.kind == Told.OPERATION_ENDED) or (inside and happening.at_ns > operation.ended_ns):
            break
        elif inside and happening.kind in TRACED:
            found.append(happening)
    return tuple(found)


def untraced(plan: RunPlan, story: Story, *kinds: Kind) -> Missing | None:
    """Why nothing can be said of these kinds of events; None where their absence means that there were none.

    A bundled client traces all that it does. Another program is believed to trace a kind once it has told one.
    """
    told = {h.kind for h in story.happenings if h.source == SUBJECT}
    if told & {kind.value for kind in kinds} or (plan.client.driver == "bundled" and told & TRACED):
        return None
    return Missing(f"the client's trace has no {' or '.join(kinds)}")


def dials_seen(story: Story) -> tuple[int, ...]:
    """When the wire showed dials, for a client that tells of none."""
    return tuple(happening.at_ns for happening in story.happenings if happening.kind == Told.DIAL_SEEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One wait of the client, cut to the operation's time. `outcome` is None for one that outlasted it."""

    setting: str
    began_ns: int
    ended_ns: int
    outcome: str | None
    purpose: str | None = None


def waits_during(story: Story, operation: OperationStory) -> tuple[Wait, ...]:
    """The waits that began during the operation, in order of their beginning, and those that ended in it.

    A wait that spans the whole operation (a background timer) is none of its own.
    """
    told = _told_by_subject(story)
    inside = {h.source_seq for h in during(story, operation)}
    open_waits: list[Happening] = []
    found: list[Wait] = []

    def add(began: Happening, ended: Happening | None) -> None:
        ended_inside = ended is not None and ended.source_seq in inside
        if began.source_seq in inside or ended_inside:
            found.append(
                Wait(
                    setting=str(began.fields.get("waiting_on")),
                    began_ns=max(began.at_ns, operation.started_ns),
                    ended_ns=ended.at_ns if ended is not None and ended_inside else operation.ended_ns,
                    outcome=str(ended.fields.get("outcome")) if ended is not None and ended_inside else None,
                    purpose=_text(began.fields.get("purpose")),
                )
            )

    for happening in told:
        if happening.kind == Kind.WAIT_STARTED:
            open_waits.append(happening)
        elif happening.kind == Kind.WAIT_ENDED:
            began = next((h for h in open_waits if _same_wait(h, happening)), None)
            if began is not None:
                open_waits.remove(began)
                add(began, happening)
    for began in open_waits:
        add(began, None)
    return tuple(sorted(found, key=lambda wait: (wait.began_ns, wait.ended_ns)))


def full_name(plan: RunPlan, setting: str) -> str:
    """A setting's full name from any dotted end of it that is unique; the text itself where none is."""
    names = [named.name for named in plan.settings]
    if setting in names:
        return setting
    ends = [name for name in names if name.endswith(f".{setting}")]
    return ends[0] if len(ends) == 1 else setting


def _told_by_subject(story: Story) -> list[Happening]:
    return sorted((h for h in story.happenings if h.source == SUBJECT), key=lambda h: h.source_seq)


_IDENTITY = ("waiting_on", "purpose", "connection", "operation", "try_number", "broker", "address")


def _same_wait(began: Happening, ended: Happening) -> bool:
    """The end of a wait repeats what its beginning said, but for the limit."""
    return all(began.fields.get(name) == ended.fields[name] for name in _IDENTITY if name in ended.fields)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def settings_waited_on(waits: tuple[Wait, ...]) -> tuple[str, ...]:
    """Each setting once, in the order in which it was first waited on."""
    return tuple(dict.fromkeys(wait.setting for wait in waits))
