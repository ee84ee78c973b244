"""A broker's advertised port without a listener."""

from dataclasses import dataclass

from harness.levers.base import BrokerLever, lever


@lever("listener")
@dataclass(frozen=True, slots=True, kw_only=True)
class CloseListener(BrokerLever):
    """Nobody listens on one broker's advertised port: dials are refused, open connections are closed.

    Evidence: DialsRefused.
    """

    @property
    def lasts(self) -> bool:
        return True
