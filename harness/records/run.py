"""The record of one run: a line of runs.jsonl. Read by reports and by `--resume`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = 1
"""Version of the run format. Fields are added, never changed; a reader refuses newer numbers."""

EMBEDDED = "embedded"
"""Faultlab's own broker: the kind of a cluster unless a record says otherwise."""

Verdict = Literal["pass", "fail", "inconclusive", "skipped", "lab_error"]


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class NamedValue(Record):
    """A setting or parameter: full name, text as written, seconds where it is a duration, number where it is one."""

    name: str
    text: str
    seconds: float | None = None
    number: float | None = None


class MeasureRecord(Record):
    """`<alias>.<measure>`: a value in its unit, or the lower bound at which it was censored, or neither: no data."""

    name: str
    unit: Literal["s", "count"]
    value: float | None = None
    censored_at: float | None = None
    missing: str | None = None
    """Why there is neither value nor bound."""
    wire: bool = False
    """Seen on the wire: the client tells nothing of it."""


class Term(Record):
    """One addend of a formula: its text, the setting it waits on (if one), how many, and what it comes to."""

    text: str
    setting: str | None = None
    count: float | None = None
    each: float | None = None
    total: float


class ExpectationResult(Record):
    """An expectation held against the measurement.

    `outcome`: `held` or `failed` for an expectation, `held` or `refuted` for a claim; `skipped` where `when` is false;
    `inconclusive` where nothing could be measured. `predicted`, `low`, `high`, `measured` are in `unit`.
    `measured_text` is the word that was measured, or how the operation ended where that is why there is no time.
    """

    measure: str
    kind: Literal["equals", "at_most", "at_least", "between", "claim"]
    formula: str
    when: str | None = None
    unit: Literal["s", "count", "text"]
    terms: tuple[Term, ...] = ()
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    measured: float | None = None
    measured_text: str | None = Field(None, exclude_if=lambda text: text is None)
    censored_at: float | None = None
    outcome: Literal["held", "failed", "refuted", "skipped", "inconclusive"]
    declared_holds: bool | None = None
    fails_run: bool = False
    late_s: float | None = Field(None, exclude_if=lambda late_s: late_s is None)
    """How late the lab was during its wait, at most. Absent where it was not."""
    reason: str | None = None
    source: str = ""
    name: str = ""
    line: int = 0
    bound: str = Field("", exclude_if=lambda text: not text)
    """The bound as the scenario writes it: `at_most: 5s`. Lines of older releases lack it."""


class OperationRecord(Record):
    """One operation as its caller saw it; times in nanoseconds since the run's origin."""

    alias: str
    operation: str
    started_ns: int
    ended_ns: int
    outcome: Literal["ok", "failed", "censored"]
    error: str | None = None
    error_class: str | None = None
    stamped: Literal["subject", "harness"]
    partition: int | None = None
    offset: int | None = None
    written: Literal["written", "not_written", "unknown"] | None = None
    """Of an operation that delivers a message alone: whether it is in the log, once the world has settled."""
    result: tuple[NamedValue, ...] = Field(default=(), exclude_if=lambda values: not values)
    """Further fields of its result. Absent where there are none."""


class FaultRecord(Record):
    """One fault and its proof; times in nanoseconds since the run's origin."""

    alias: str
    fault: str
    parameters: tuple[NamedValue, ...] = ()
    began_ns: int
    confirmed_ns: int
    healing_ns: int | None = None
    healed_ns: int | None
    proof: str
    count: float
    proven: bool
    finding: str
    met_by: tuple[str, ...] | None = Field(None, exclude_if=lambda aliases: aliases is None)
    """The operations during which it met the client's traffic; absent where nobody looked."""


class NoiseRecord(Record):
    loop_lag_p99_s: float
    loop_lag_max_s: float
    samples: int


class KernelRecord(Record):
    release: str
    hz: int
    sysctls: tuple[NamedValue, ...] = ()


class IntegrityRecord(Record):
    """The log, as it stood once the world had settled: records of this run's messages, and others."""

    settled_s: float
    settled: bool
    records: int
    strangers: int


class LabErrorRecord(Record):
    code: str
    text: str
    blame: Literal["lab", "subject"]


class RunRecord(Record):
    """One try of one run. Of several lines with one run_id, only that with the highest `attempt` counts."""

    format: int = FORMAT
    run_id: str
    attempt: int
    scenario: str
    path: str
    about: str = ""
    tags: tuple[str, ...] = ()
    client: str
    client_version: str
    driver: Literal["bundled", "real", "exec"]
    environment: str
    broker: str = EMBEDDED
    broker_version: str = Field("", exclude_if=lambda version: not version)
    brokers: int
    bootstrap: tuple[int, ...]
    parameters: tuple[NamedValue, ...] = ()
    settings: tuple[NamedValue, ...] = ()
    seed: int
    repeat: int
    started_at: str
    """Wall clock, ISO 8601 with zone: for people; nothing is computed from it."""
    duration_s: float
    ready_s: float | None = None
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    noisy: bool = False
    """The machine was too noisy for this try's expectations: it is made again, alone, up to two more times."""
    measures: tuple[MeasureRecord, ...] = ()
    expectations: tuple[ExpectationResult, ...] = ()
    operations: tuple[OperationRecord, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    noise: NoiseRecord
    kernel: KernelRecord
    integrity: IntegrityRecord | None = None
    """Null where nobody asked for the log."""
    error: LabErrorRecord | None = None

    @property
    def ended_by_subject(self) -> bool:
        """Whether it has no other verdict since the client's program, or its settings, ended it: the lab worked."""
        return self.verdict == "lab_error" and self.error is not None and self.error.blame == "subject"
