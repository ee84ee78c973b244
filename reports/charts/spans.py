"""The waits of one run as spans: from events, cut to the operation that they belong to, in seconds from its call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

SAME_WAIT = ("source", "waiting_on", "purpose", "connection", "operation", "try_number", "broker", "address")
SEEN_ALIKE = ("connection", "address", "purpose")
DIAL, ANSWER = "dial", "answer"
"""Purposes of what is seen on the wire; others are how a connection ended."""
SAME_DIAL = ("source", "connection")

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A time in which the client waited. `setting` is None where it dialled without naming what limits it. `outcome`
    is None for a wait that outlasted the operation. `seen`: on the wire, of a client that reports no waits."""

    setting: str | None
    began_s: float
    ended_s: float
    purpose: str
    outcome: str | None
    connection: int | None
    broker: int | None
    address: str | None
    seen: bool = False

    @property
    def lasted_s(self) -> float:
        return self.ended_s - self.began_s


def operation_spans(events: Sequence[Event], started_ns: int, ended_ns: int) -> tuple[Span, ...]:
    """Waits that began or ended while the operation was under way, and dials that no wait covers, in time's order. Of a
    client that reports no waits, what the wire shows: its connections' silences and ends, and dials that it does not
    report itself."""
    ordered = sorted(events, key=lambda event: (event["at_ns"], event["source"], event["source_seq"]))
    waits = clip_to_operation(match_events(ordered, "wait", SAME_WAIT), started_ns, ended_ns)
    covered = {span.connection for span in waits if span.connection is not None}
    dials = clip_to_operation(match_events(ordered, "dial", SAME_DIAL), started_ns, ended_ns)
    told = [*waits, *(d for d in dials if d.connection not in covered)]
    if not waits:
        wire = clip_to_operation(match_events(ordered, "wire", SEEN_ALIKE), started_ns, ended_ns)
        told += [replace(one, seen=True) for one in wire if one.purpose != DIAL or not dials]
    return tuple(sorted(told, key=lambda span: span.began_s))


def match_events(events: Iterable[Event], what: str, identity: Sequence[str]) -> list[tuple[Event, Event | None]]:
    """Each beginning with its end; None where there is none. Ends belong to the oldest open beginning like them."""
    pairs: list[tuple[Event, Event | None]] = []
    open_at: dict[tuple[Any, ...], list[int]] = {}
    for event in events:
        key = tuple(event[name] for name in identity)
        if event["kind"] == f"{what}_started":
            open_at.setdefault(key, []).append(len(pairs))
            pairs.append((event, None))
        elif event["kind"] == f"{what}_ended" and open_at.get(key):
            place = open_at[key].pop(0)
            pairs[place] = (pairs[place][0], event)
    return pairs


def clip_to_operation(pairs: Iterable[tuple[Event, Event | None]], started_ns: int, ended_ns: int) -> list[Span]:
    found = []
    for began, ended in pairs:
        from_ns, to_ns = began["at_ns"], ended["at_ns"] if ended else ended_ns
        if started_ns <= from_ns < ended_ns or (ended and started_ns < to_ns <= ended_ns):
            found.append(span(began, ended, max(from_ns, started_ns), min(to_ns, ended_ns), started_ns, ended_ns))
    return found


def span(began: Event, ended: Event | None, from_ns: int, to_ns: int, started_ns: int, ended_ns: int) -> Span:
    outlasted = ended is None or ended["at_ns"] > ended_ns
    return Span(
        setting=began["waiting_on"],
        began_s=(from_ns - started_ns) / 1e9,
        ended_s=(to_ns - started_ns) / 1e9,
        purpose=began["purpose"] or DIAL,
        outcome=None if outlasted or ended is None else ended["outcome"],
        connection=began["connection"],
        broker=began["broker"],
        address=began["address"],
    )


def covered_s(spans: Iterable[Span]) -> float:
    """How much time at least one of the spans covers."""
    total, reached = 0.0, float("-inf")
    for one in sorted(spans, key=lambda span: span.began_s):
        total += max(0.0, one.ended_s - max(one.began_s, reached))
        reached = max(reached, one.ended_s)
    return total
