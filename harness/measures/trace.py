"""A subject's trace in order, with the start and the end of each wait matched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from client.events import TraceKind
from harness.story import Event, EventKind, OperationStory, Story

SUBJECT = "subject"
CLIENT_EVENT_KINDS = frozenset(kind.value for kind in TraceKind)

_WAIT_STARTED, _WAIT_ENDED = TraceKind.WAIT_STARTED.value, TraceKind.WAIT_ENDED.value
_DIAL_SEEN = EventKind.DIAL_SEEN.value
_STARTED, _ENDED = EventKind.OPERATION_STARTED.value, EventKind.OPERATION_ENDED.value
_IDENTITY = frozenset({"waiting_on", "purpose", "connection", "operation", "try_number", "broker", "address"})


class Wait(NamedTuple):
    """One wait of the client, cut to the operation's time. `outcome` is None for one that outlasted it.

    `limit_s` is None where it was not said, or there is none. `cut`: it began before the operation. `pause`: it is on
    no connection, so that nothing could end it early.
    """

    setting: str
    began_ns: int
    ended_ns: int
    outcome: str | None
    purpose: str | None = None
    limit_s: float | None = None
    cut: bool = False
    pause: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTrace:
    """The trace between an operation's start and its end, the waits that began or ended in it, in order of their
    beginning, and these by their setting."""

    events: tuple[Event, ...]
    waits: tuple[Wait, ...]
    waits_on: Mapping[str, Sequence[Wait]]


class SubjectTrace:
    """`subject_events` are the events of the subject in its own order; `kinds` are their kinds. `dials_seen` is when
    the wire showed dials."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self.subject_events = [event for event in story.events if event.source == SUBJECT]
        self.subject_events.sort(key=itemgetter(2))  # source_seq
        by_kind: dict[str, list[int]] = {}
        for index, (_, _, _, kind, _) in enumerate(self.subject_events):
            by_kind.setdefault(kind, []).append(index)
        self.kinds = by_kind.keys()
        self._edges = sorted(by_kind.get(_STARTED, []) + by_kind.get(_ENDED, []))
        waits = sorted(by_kind.get(_WAIT_STARTED, []) + by_kind.get(_WAIT_ENDED, []))
        self._pairs = _pairs([self.subject_events[index] for index in waits])
        self._by_operation: dict[tuple[str, int, int], OperationTrace] = {}

    @cached_property
    def dials_seen(self) -> tuple[int, ...]:
        return tuple([event.at_ns for event in self._story.events if event.kind == _DIAL_SEEN])

    def for_operation(self, operation: OperationStory) -> OperationTrace:
        """The part of an operation. Order decides, not time: on virtual time many events share one instant."""
        key = operation.alias, operation.started_ns, operation.ended_ns
        found = self._by_operation.get(key)
        if found is None:
            found = self._by_operation[key] = self._operation_trace(operation)
        return found

    def _operation_trace(self, operation: OperationStory) -> OperationTrace:
        events = self._between(operation.alias, operation.ended_ns)
        waits = self._cut(events, operation)
        waits_on: dict[str, list[Wait]] = {}
        for wait in waits:
            waits_on.setdefault(wait.setting, []).append(wait)
        return OperationTrace(events=events, waits=waits, waits_on=waits_on)

    def _between(self, alias: str, ended_ns: int) -> tuple[Event, ...]:
        edges = [place for place in self._edges if self.subject_events[place].fields.get("operation") == alias]
        if not edges or self.subject_events[edges[0]].kind == _ENDED:
            return ()
        ends = [place for place in edges if self.subject_events[place].kind == _ENDED]
        found: list[Event] = []
        for event in self.subject_events[edges[0] + 1 : ends[0] if ends else None]:
            at_ns, _, _, kind, _ = event
            if at_ns > ended_ns:
                break
            if kind in CLIENT_EVENT_KINDS:
                found.append(event)
        return tuple(found)

    def _cut(self, events: tuple[Event, ...], operation: OperationStory) -> tuple[Wait, ...]:
        if not events:
            return ()
        inside = range(events[0].source_seq, events[-1].source_seq + 1)
        found: list[Wait] = []
        for (began_ns, _, source_seq, _, fields), ended in self._pairs:
            last = ended if ended is not None and ended.source_seq in inside else None
            if last is None and source_seq not in inside:
                continue
            purpose, limit_s = fields.get("purpose"), fields.get("limit_s")
            found.append(
                Wait(
                    setting=str(fields.get("waiting_on")),
                    began_ns=max(began_ns, operation.started_ns),
                    ended_ns=operation.ended_ns if last is None else last.at_ns,
                    outcome=None if last is None else str(last.fields.get("outcome")),
                    purpose=purpose if isinstance(purpose, str) else None,
                    limit_s=limit_s if isinstance(limit_s, float | int) else None,
                    cut=began_ns < operation.started_ns,
                    pause="connection" not in fields,
                )
            )
        found.sort(key=itemgetter(1, 2))  # began_ns, ended_ns
        return tuple(found)


def _pairs(edges: list[Event]) -> tuple[tuple[Event, Event | None], ...]:
    """Starts of waits with their ends, in the order of the ends; waits without an end (None) come last."""
    begun: list[Event] = []
    found: list[tuple[Event, Event | None]] = []
    for event in edges:
        if event.kind == _WAIT_STARTED:
            begun.append(event)
            continue
        for place, began in enumerate(begun):
            if _same_wait(began, event):
                found.append((begun.pop(place), event))
                break
    return (*found, *((began, None) for began in begun))


def _same_wait(began: Event, ended: Event) -> bool:
    """The end of a wait repeats the fields of its start, except the limit."""
    return _IDENTITY.isdisjoint(dict(ended.fields.items() - began.fields.items()))


def settings_waited_on(waits: tuple[Wait, ...]) -> tuple[str, ...]:
    """Each setting once, in the order in which it was first waited on."""
    return tuple(dict.fromkeys(wait.setting for wait in waits))
