"""What a run is doing now, in three or four words, from the subject's own trace."""

from collections.abc import Mapping

from client.events import Kind
from harness.environments.world import Progress
from harness.story import Value

_MEANS_SOMETHING = frozenset({Kind.DIAL_STARTED, Kind.DIAL_ENDED, Kind.WAIT_STARTED})


class Telling:
    """Passes on each new text once."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._last: str | None = None
        self._dialling: set[Value] = set()

    def say(self, text: str) -> None:
        if text != self._last:
            self._last = text
            self._progress(text)

    def trace(self, kind: str, fields: Mapping[str, Value]) -> None:
        """Say what a trace event means, where it means something to whoever waits."""
        if kind not in _MEANS_SOMETHING:
            return
        connection = fields.get("connection")
        match kind:
            case Kind.DIAL_STARTED:
                self._dialling.add(connection)
                broker = fields.get("broker")
                named = isinstance(broker, int) and broker >= 0
                self.say(f"dialling broker {broker}" if named else f"dialling {fields.get('address', 'a broker')}")
            case Kind.DIAL_ENDED:
                self._dialling.discard(connection)
            case _:
                setting = str(fields.get("waiting_on", ""))
                # A dial's own limit says less than whom it dials.
                if connection is None or connection not in self._dialling:
                    self.say("backing off" if "backoff" in setting.lower() else f"waiting: {setting}")
