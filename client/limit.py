"""How long a client waits for something, under the names of the settings that say so."""

from math import inf
from typing import NamedTuple

NO_TIME_OUT = "no time-out"
"""What a wait that no setting limits is said to wait on."""


class Limit(NamedTuple):
    """`seconds` is infinite where the client waits for ever; `settings` may be several, or none."""

    seconds: float = inf
    settings: tuple[str, ...] = ()

    @property
    def waiting_on(self) -> str:
        """What a wait within this limit waits on, as one text: its settings joined by ` + `."""
        return " + ".join(self.settings) or NO_TIME_OUT

    def deadline_at(self, start_at: float) -> float | None:
        """The moment at which a wait that starts now is over; None for never."""
        return None if self.seconds == inf else start_at + self.seconds
