"""What an operation knows of its call: its id in the trace, the caller's deadline, and whether the caller gave up."""

from collections.abc import Callable
from dataclasses import dataclass, field

from client.events import Tracer


class Cancellation:
    """A signal that is given at most once: the caller no longer wants the operation."""

    __slots__ = ("_callbacks", "cancelled")

    def __init__(self) -> None:
        self.cancelled = False
        self._callbacks: list[Callable[[], None]] = []

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call back when the signal is given; at once where it has been."""
        if self.cancelled:
            callback()
        else:
            self._callbacks.append(callback)

    def cancel(self) -> None:
        """Give the signal. The second time does nothing."""
        callbacks, self._callbacks = self._callbacks, []
        self.cancelled = True
        for callback in callbacks:
            callback()


@dataclass(frozen=True, slots=True)
class Context:
    """One call of an operation. `deadline_at` is a moment of the loop's clock in seconds, None where there is none.

    `operation` is the call's id, which trace events carry as `operation`. `cancellation` is given when the subject ends
    before the operation has; after that the handler's task is cancelled too.
    """

    operation: str
    tracer: Tracer
    deadline_at: float | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
