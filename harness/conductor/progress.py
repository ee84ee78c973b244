"""What a run is doing now, in three or four words, taken from the subject's trace."""

from collections.abc import Mapping

from client.events import TraceKind
from harness.environments.world import ProgressCallback
from harness.story import Value

_DIAL_STARTED, _DIAL_ENDED, _WAIT_STARTED = (
    TraceKind.DIAL_STARTED.value,
    TraceKind.DIAL_ENDED.value,
    TraceKind.WAIT_STARTED.value,
)


REPORTED_KINDS = frozenset({_DIAL_STARTED, _DIAL_ENDED, _WAIT_STARTED})
"""Kinds of trace events that `ProgressReporter.on_trace_event` reports."""


class ProgressReporter:
    """Reports each new text once."""

    def __init__(self, progress: ProgressCallback) -> None:
        self._progress = progress
        self._last: str | None = None
        self._dialling: set[Value] = set()

    def report(self, text: str) -> None:
        if text != self._last:
            self._last = text
            self._progress(text)

    def on_trace_event(self, kind: str, fields: Mapping[str, Value]) -> None:
        """Report a trace event, if it says what the run waits for."""
        if kind == _WAIT_STARTED:
            connection = fields.get("connection")
            # The address of a dial says more than its time limit.
            if connection is None or connection not in self._dialling:
                setting = str(fields.get("waiting_on", ""))
                self.report("backing off" if "backoff" in setting.lower() else f"waiting: {setting}")
        elif kind == _DIAL_STARTED:
            self._dialling.add(fields.get("connection"))
            broker = fields.get("broker")
            named = isinstance(broker, int) and broker >= 0
            self.report(f"dialling broker {broker}" if named else f"dialling {fields.get('address', 'a broker')}")
        elif kind == _DIAL_ENDED:
            self._dialling.discard(fields.get("connection"))
