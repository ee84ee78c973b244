"""An operation that a subject was asked for, and its answer."""

from dataclasses import dataclass, field
from typing import Literal

from harness.once import Once
from harness.story import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How an operation ended, as its caller saw it; absolute clock values. `asked_ns`: the command."""

    asked_ns: int | None = None
    started_ns: int
    ended_ns: int
    outcome: Outcome
    stamped: Literal["subject", "harness"]
    error: str | None = None
    error_class: str | None = None
    partition: int | None = None
    offset: int | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """An operation that the subject was asked for. `given_up`: nobody waits for its answer any more."""

    id: str
    operation: str
    sent_ns: int
    begun: Once = field(default_factory=Once)
    done: Once = field(default_factory=Once)
    begun_received_ns: int | None = None
    begun_at_ns: int | None = None
    answer: Answer | None = None
    given_up: bool = False

    @property
    def started_ns(self) -> int:
        """When the call was made, as well as it is known so far."""
        return next(ns for ns in (self.begun_at_ns, self.begun_received_ns, self.sent_ns) if ns is not None)
