"""An operation that a subject was asked for, and its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness.event import OneShotEvent
from harness.story import Outcome, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
    """How an operation ended, as its caller saw it; absolute clock values. `asked_ns`: the command."""

    asked_ns: int | None = None
    started_ns: int
    ended_ns: int
    outcome: Outcome
    stamped: Literal["subject", "harness"]
    error: str | None = None
    error_class: str | None = None
    result: Mapping[str, Value] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class OperationCall:
    """An operation that the subject was asked for. `abandoned`: the lab has given up waiting for its answer."""

    id: str
    operation: str
    sent_ns: int
    has_started: OneShotEvent = field(default_factory=OneShotEvent)
    done: OneShotEvent = field(default_factory=OneShotEvent)
    start_received_ns: int | None = None
    subject_started_ns: int | None = None
    result: OperationResult | None = None
    abandoned: bool = False

    @property
    def started_ns(self) -> int:
        """When the call was made, as well as it is known so far."""
        return next(ns for ns in (self.subject_started_ns, self.start_received_ns, self.sent_ns) if ns is not None)
