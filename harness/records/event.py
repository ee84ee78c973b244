"""The record of one event: a line of events.jsonl. Flat, so that Spark reads it with a fixed schema."""

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
