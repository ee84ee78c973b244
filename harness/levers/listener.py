"""A broker's advertised port without a listener."""

from dataclasses import dataclass

from harness.levers.base import Lever, lever


@lever("listener")
@dataclass(frozen=True, slots=True, kw_only=True)
class CloseListener(Lever):
    """Nobody listens on one broker's advertised port: dials are refused, open connections are closed.

    Evidence: DialsRefused.
    """

    broker: int

    @property
    def where(self) -> str:
        return f"broker {self.broker}"
