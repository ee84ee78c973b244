"""The story of one run: what was done, what was seen, and what proves it. The conductor returns it, unjudged.

All times are nanoseconds since the run's origin, on the world's monotonic clock. Stories are frozen and picklable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

Value = str | int | float | bool | None


class Outcome(StrEnum):
    """How an operation ended, as its caller saw it."""

    OK = "ok"
    FAILED = "failed"
    CENSORED = "censored"
    """It had not ended when the lab's patience or the run was over: its time is a lower bound."""


class EventKind(StrEnum):
    """Kinds of events beside those of a client's trace (`client.events.TraceKind`); `operation` is a step's alias."""

    OPERATION_STARTED = "operation_started"
    """operation, purpose (which operation it is). Source `subject`, like every event of a subject."""
    OPERATION_ENDED = "operation_ended"
    """operation, purpose, outcome, error, error_class."""
    ANSWERED_LATE = "answered_late"
    """operation, outcome, error: the answer came after the lab had given up."""
    STAMPS_REFUSED = "stamps_refused"
    """text: why the subject's own times are not used. Source `subject`."""
    CLIENT_STARTED = "client_started"
    """Source `conductor`, as all below."""
    CLIENT_READY = "client_ready"
    CLIENT_ENDED = "client_ended"
    GAVE_UP = "gave_up"
    """operation, limit_s."""
    FAULT_BEGAN = "fault_began"
    """alias, purpose (which fault it is)."""
    FAULT_CONFIRMED = "fault_confirmed"
    """alias, purpose, text (on which brokers, where the cluster's state or chance has selected them)."""
    HEALING_BEGAN = "healing_began"
    FAULT_HEALED = "fault_healed"
    """alias, text (what proves it)."""
    SETTLING_BEGAN = "settling_began"
    """limit_s: how long to wait for data in the kernel that may still reach a log."""
    SETTLED = "settled"
    """text: whether it has ended."""
    DIAL_SEEN = "dial_seen"
    """address, connection (the port that it comes from). Source `wire`: seen there, traced by the client or not."""
    WIRE_STARTED = "wire_started"
    """purpose (`dial`, `answer`, or how the connection ended), address, connection (the port that it comes from).
    Source `wire`: seen there, of a program that reports no waits."""
    WIRE_ENDED = "wire_ended"
    """The same, and outcome."""
    STEP_UNMET = "step_unmet"
    """operation, text."""


class WriteStatus(StrEnum):
    """Whether a message is in the log, once nothing can be written any more. Failed and written: a zombie."""

    WRITTEN = "written"
    NOT_WRITTEN = "not_written"
    UNKNOWN = "unknown"
    """The log was not read, or the world had not settled when it was."""


class Event(NamedTuple):
    """One stamped event of a source (`subject`, `conductor`, `broker-1`). `source_seq` counts within the source.

    `fields` has only keys that `harness.records.event.EventRecord` knows.
    """

    at_ns: int
    source: str
    source_seq: int
    kind: str
    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationStory:
    """One operation as its caller saw it. `ended_ns` of a censored one is the moment at which the lab gave up.

    `stamped` says who took the times: the subject itself, or the harness on receipt. `asked_ns` is the lab's command,
    before which the call cannot have been made.
    """

    alias: str
    operation: str
    started_ns: int
    ended_ns: int
    outcome: Outcome
    error: str | None = None
    error_class: str | None = None
    stamped: Literal["subject", "harness"] = "subject"
    result: Mapping[str, Value] = field(default_factory=dict)
    """What a successful one returned, by the fields that its operation declares."""
    written: WriteStatus | None = None
    """Whether its message is in the log; None for an operation that delivers none."""
    asked_ns: int | None = None
    unmet: str | None = None
    """Why the step's own `expect:` was not met; None where it was, or where there is none."""

    def outlasts(self, at_ns: int) -> bool:
        """Whether it was under way behind this moment, or called at it: on virtual time a call may take no time."""
        return self.ended_ns > at_ns or self.started_ns >= at_ns

    @property
    def partition(self) -> int | None:
        return integer_of(self.result, "partition")

    @property
    def offset(self) -> int | None:
        return integer_of(self.result, "offset")

    @property
    def further_result(self) -> Mapping[str, Value]:
        """`result` without `partition` and `offset`."""
        return {name: value for name, value in self.result.items() if name not in ("partition", "offset")}


def integer_of(result: Mapping[str, Value], name: str) -> int | None:
    """A field of an operation's result, where it has one that is an integer."""
    value = result.get(name)
    return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultStory:
    """One fault: when it began, was confirmed and healed, and whether it is proven to have had an effect.

    `proof` names what was counted (`packets_dropped`), `count` how much of it, `finding` says it in a sentence.
    `healing_ns`: when its undoing began; at `healed_ns` that was confirmed. `met_by` are the operations during which it
    met the client's traffic; None where nobody looked, as for one that is not proven.
    """

    alias: str
    fault: str
    parameters: Mapping[str, Value]
    began_ns: int
    confirmed_ns: int
    healing_ns: int | None = None
    healed_ns: int | None
    proof: str
    count: float
    proven: bool
    finding: str
    met_by: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleResult:
    """How waiting for a world to settle ended: after `seconds`, `complete` if nothing was under way any more."""

    seconds: float
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """One record of a partition's log, as its brokers keep it."""

    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCopy:
    """One record of the log, with the operation whose message it is: a second copy is a duplicate."""

    operation: str
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """The log as it stood once the world had settled, in the order of its offsets.

    `foreign_records` counts records that no operation of the run sent.
    """

    settled: SettleResult
    copies: tuple[MessageCopy, ...]
    foreign_records: int = 0


class DelaySample(NamedTuple):
    """How long the processes of a world had been kept from running by `at_ns`: seconds since each began, by name."""

    at_ns: int
    delayed_s: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How late the world's timers came: the lab's error is at least this.

    `delays` were sampled where waits begin and end, in the order of time; none where time is virtual.
    """

    loop_lag_p99_s: float
    loop_lag_max_s: float
    samples: int
    delays: tuple[DelaySample, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What the times depend on: kernel release, timer frequency, pinned sysctls. Simulated worlds say so."""

    release: str
    hz: int
    sysctls: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabError:
    """The lab itself failed (Toxiproxy died, a subject broke the protocol).

    `code` is stable, `text` says what to do.
    """

    code: str
    text: str
    blame: Literal["lab", "subject"] = "lab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What one run left behind. `origin_ns` is the absolute clock value that all times are relative to."""

    run_id: str
    attempt: int
    origin_ns: int
    ready_s: float | None
    """From the world's opening to the subject's `ready`."""
    ended_ns: int
    operations: tuple[OperationStory, ...]
    faults: tuple[FaultStory, ...]
    events: tuple[Event, ...]
    noise: Noise
    kernel: Kernel
    error: LabError | None = None
    integrity: Integrity | None = None
    """None where the log was not read."""


UNKNOWN_KERNEL = Kernel(release="unknown", hz=0)


def lost_story(
    run_id: str, attempt: int, error: LabError, *, origin_ns: int = 0, kernel: Kernel = UNKNOWN_KERNEL
) -> Story:
    """The story of a run of which only the error is known: its world never opened, hung or was lost."""
    return Story(
        run_id=run_id,
        attempt=attempt,
        origin_ns=origin_ns,
        ready_s=None,
        ended_ns=0,
        operations=(),
        faults=(),
        events=(),
        noise=Noise(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=0),
        kernel=kernel,
        error=error,
    )
