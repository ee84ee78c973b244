"""A broker's process killed, paused or restarted."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.levers.base import BrokerLever, Evidence, lever, quantity

SESSION_S = 9.0
"""How long Kafka waits for a broker that it does not hear of: `broker.session.timeout.ms` of KRaft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsUnread(Evidence):
    """`connections` hold bytes that a paused broker has not read, and `held` requests were in its hands when it was
    paused. `requests` to others were met by its pause: acknowledgements had to wait for its replicas, or metadata came
    from a cluster that had given it up."""

    name: ClassVar[str] = "requests_unread"
    meaning: ClassVar[str] = "requests were left unread or unanswered, or those to other brokers met its absence"

    connections: int = 0
    requests: int = 0
    held: int = 0

    def sentence(self) -> str:
        held = f", held {quantity(self.held, 'request')}" if self.held else ""
        elsewhere = f" and was met by {quantity(self.requests, 'request')} to others" if self.requests else ""
        return f"left {quantity(self.connections, 'connection')} with unread requests{held}{elsewhere}"


@lever("signal")
@dataclass(frozen=True, slots=True, kw_only=True)
class Signal(BrokerLever):
    """Do to one broker's process what a signal does.

    `kill`: it ends at once and nobody listens at its advertised port; undone, it is started again on its old logs.
    `pause`: it stands still, while its kernel continues to accept and acknowledge; undone, it reads what has arrived
    meanwhile. `restart`: it is killed and started again, which undoing does not change. `election_s` after a kill or a
    pause the cluster has others lead what it led, as far as there are replicas.

    Evidence: RequestsUnread of a pause, else ConnectionsCut.
    """

    kind: Literal["kill", "pause", "restart"]
    election_s: float = SESSION_S

    @property
    def lasts(self) -> bool:
        return self.kind != "pause"
