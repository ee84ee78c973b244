"""The record of one event: a line of events.jsonl. Flat, so that Spark reads it with a fixed schema."""

from collections.abc import Iterable, Mapping
from itertools import chain

from pydantic_core import to_json

from harness.records.run import Record


class EventRecord(Record):
    """Order within a run and attempt is (at_ns, source, source_seq). `at_ns` counts from the run's origin."""

    run_id: str
    attempt: int
    at_ns: int
    source: str
    source_seq: int
    kind: str
    operation: str | None = None
    alias: str | None = None
    connection: int | None = None
    broker: int | None = None
    address: str | None = None
    api: str | None = None
    correlation_id: int | None = None
    bytes: int | None = None
    waiting_on: str | None = None
    limit_s: float | None = None
    purpose: str | None = None
    try_number: int | None = None
    outcome: str | None = None
    error: str | None = None
    error_class: str | None = None
    text: str | None = None


_FIELDS = frozenset(EventRecord.model_fields)

EventRow = tuple[int, str, int, str, Mapping[str, str | int | float | None]]
"""at_ns, source, source_seq, kind, and the fields that have a value."""


def encode_events(run_id: str, attempt: int, events: Iterable[EventRow]) -> bytes:
    """Lines for the events of a try, ends included, without the fields that an event has no value for.

    Runs have many events, so no record is made, and all are spelt out at once: for values whose types are known to be
    right. Raises ValueError for a field that no event has.
    """
    rows = [
        {"at_ns": at_ns, "source": source, "source_seq": source_seq, "kind": kind, **fields}
        for at_ns, source, source_seq, kind, fields in events
    ]
    if not rows:
        return b""
    if not _FIELDS.issuperset(chain.from_iterable(rows)):
        raise ValueError(f"events have no field {', '.join(set().union(*rows) - _FIELDS)}")
    beginning = to_json({"run_id": run_id, "attempt": attempt})[:-1] + b","
    # Behind a brace, no text can hold the quote of a name: its own quotes are escaped.
    lines = to_json(rows, inf_nan_mode="null")[2:-1].replace(b'},{"at_ns":', b"}\n" + beginning + b'"at_ns":')
    return beginning + lines + b"\n"
