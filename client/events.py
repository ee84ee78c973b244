"""The trace of a bundled client: events stamped where they happen.

Every wait that a client starts and ends names the setting it waits on: reports and `explain` are built on that. Field
names are a closed set (they are columns of the records), so a new kind of event reuses them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from math import inf

from client.limit import Limit


class TraceKind(StrEnum):
    """Kinds of events; each says which fields it carries."""

    WAIT_STARTED = "wait_started"
    """waiting_on (the limit's settings), limit_s (absent where the client waits for ever), purpose, connection, broker,
    address."""
    WAIT_ENDED = "wait_ended"
    """waiting_on, purpose, outcome (`elapsed`, `satisfied`, `failed`), connection."""
    DIAL_STARTED = "dial_started"
    """connection, broker (-1: a bootstrap address), address."""
    DIAL_ENDED = "dial_ended"
    """connection, broker, address, outcome (`connected`, `timeout`, `refused`, `failed`), error."""
    REQUEST_SENT = "request_sent"
    """connection, broker, api, correlation_id, bytes."""
    RESPONSE_RECEIVED = "response_received"
    """connection, broker, api, correlation_id, bytes."""
    CONNECTION_CLOSED = "connection_closed"
    """connection, broker, error (why; absent for an orderly close)."""
    ATTEMPT_STARTED = "attempt_started"
    """operation, try_number (from 1), broker: a try to deliver the operation's message."""
    ATTEMPT_ENDED = "attempt_ended"
    """operation, try_number, outcome (`ok`, `failed`), error."""
    REFRESH_STARTED = "refresh_started"
    """try_number (from 1): a try of a metadata refresh."""
    REFRESH_ENDED = "refresh_ended"
    """try_number, outcome (`ok`, `failed`), error."""
    STATE = "state"
    """purpose (whose state), outcome (the new state): breaker open, retry level, broker deregistered."""


TraceValue = str | int | float | bool | None
Sink = Callable[[int, str, dict[str, TraceValue]], None]
"""Takes at_ns, kind, fields."""


class Wait:
    """Handle of a running wait; `end` it with how it ended."""

    __slots__ = ("_fields", "_tracer")

    def __init__(self, tracer: "Tracer", fields: dict[str, TraceValue]) -> None:
        self._tracer = tracer
        self._fields = fields

    def end(self, outcome: str) -> None:
        """`elapsed`: the limit passed; `satisfied`: what was waited for came; `failed`: something else ended it."""
        self._tracer.emit_fields(TraceKind.WAIT_ENDED, {**self._fields, "outcome": outcome})


class Tracer:
    """Stamps events with the client's clock (`loop.time`, seconds) and hands them to a sink."""

    def __init__(self, clock: Callable[[], float], sink: Sink) -> None:
        self._clock = clock
        self._sink = sink

    def emit(self, kind: TraceKind, **fields: TraceValue) -> None:
        self._sink(round(self._clock() * 1e9), kind._value_, fields)

    def emit_fields(self, kind: TraceKind, fields: dict[str, TraceValue]) -> None:
        """`emit` for fields that stand in a dict already, which goes to the sink."""
        self._sink(round(self._clock() * 1e9), kind._value_, fields)

    def wait(self, limit: Limit, purpose: str, **fields: TraceValue) -> Wait:
        """Start a wait on what sets the limit; the caller ends it."""
        fields = {"waiting_on": limit.waiting_on, "purpose": purpose, **fields}
        limited = {} if limit.seconds == inf else {"limit_s": limit.seconds}
        self.emit_fields(TraceKind.WAIT_STARTED, {**fields, **limited})
        return Wait(self, fields)

    @contextmanager
    def sleeping(self, limit: Limit, purpose: str, **fields: TraceValue) -> Iterator[None]:
        """A wait that nothing ends early: a back-off."""
        wait = self.wait(limit, purpose, **fields)
        outcome = "failed"
        try:
            yield
            outcome = "elapsed"
        finally:
            wait.end(outcome)
