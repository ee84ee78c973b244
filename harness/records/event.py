"""The record of one event: a line of events.jsonl. Flat, so that Spark reads it with a fixed schema."""

from collections.abc import Mapping

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


_NO_FIELDS: Mapping[str, None] = dict.fromkeys(EventRecord.model_fields)


def event_line(
    fields: Mapping[str, str | int | float | None],
    *,
    run_id: str,
    attempt: int,
    at_ns: int,
    source: str,
    source_seq: int,
    kind: str,
) -> bytes:
    """The line that an EventRecord with these values makes, its end included: runs have many events, so none is made.

    For values whose types are known to be right. Raises ValueError for a field that no event has.
    """
    row = {
        **_NO_FIELDS,
        "run_id": run_id,
        "attempt": attempt,
        "at_ns": at_ns,
        "source": source,
        "source_seq": source_seq,
        "kind": kind,
        **fields,
    }
    if len(row) != len(_NO_FIELDS):
        raise ValueError(f"events have no field {', '.join(row.keys() - _NO_FIELDS.keys())}")
    return to_json(row, inf_nan_mode="null") + b"\n"
