"""Changes of what a cluster agrees on: who is a member, who leads, which topics there are."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from harness.levers.base import BrokerLever, Evidence, Lever, lever, quantity
from harness.levers.packets import DialsRefused, PacketsDropped


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMet(Evidence):
    """`requests` of the client came to brokers that knew of the change, and were answered or, where they may no longer
    be sent, refused."""

    name: ClassVar[str] = "change_met"
    meaning: ClassVar[str] = "the client's requests met the changed state of the cluster"

    requests: int = 0

    def sentence(self) -> str:
        return f"was met by {quantity(self.amount, 'request')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureMet(Evidence):
    """The client met brokers that had left: `requests` were answered by a cluster without them, `dials` and `packets`
    to their addresses came to nothing, `connections` to them ended."""

    name: ClassVar[str] = "departure_met"
    meaning: ClassVar[str] = "requests were answered by a cluster without these brokers, or their addresses were used"

    requests: int = 0
    connections: int = 0
    dials: int = 0
    packets: int = 0

    @classmethod
    def of(cls, evidence: Evidence) -> "DepartureMet":
        match evidence:
            case ChangeMet(requests=requests):
                return cls(requests=requests)
            case DialsRefused(dials=dials, connections=connections):
                return cls(dials=dials, connections=connections)
            case PacketsDropped(packets=packets):
                return cls(packets=packets)
        return cls()

    def sentence(self) -> str:
        met = {"request": self.requests, "connection": self.connections, "dial": self.dials, "packet": self.packets}
        return f"was met by {', '.join(quantity(n, noun) for noun, n in met.items() if n) or 'nothing'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapMet(Evidence):
    """`requests` of the client were refused for their version, or answered with fewer versions."""

    name: ClassVar[str] = "cap_met"
    meaning: ClassVar[str] = "brokers refused requests for their version, or named fewer versions when the client asked"

    requests: int = 0

    @classmethod
    def of(cls, evidence: Evidence) -> "CapMet":
        return cls(requests=evidence.requests) if isinstance(evidence, ChangeMet) else cls()

    def sentence(self) -> str:
        return f"met {quantity(self.amount, 'request')} with a refusal or with fewer versions"


STATE_SEEN_IN = ("metadata", "produce")
"""The requests whose answers show a client the cluster's state."""


@dataclass(frozen=True, slots=True)
class ClusterChange(ABC):
    """What a controller can be asked to change."""

    @property
    def seen_in(self) -> tuple[str, ...]:
        """The requests whose answers show a client the change."""
        return STATE_SEEN_IN

    @property
    def seen_at(self) -> int | None:
        """The only broker whose answers show it; None: every broker's do."""
        return None

    @property
    def caps(self) -> bool:
        """Whether it caps versions, so that requests show it as `Intercept.capped` says."""
        return False

    @property
    @abstractmethod
    def where(self) -> str:
        """What is changed, as a sentence names it: `orders/0`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveLeader(ClusterChange):
    """Make another replica the leader of a partition, with the next leader epoch."""

    topic: str
    partition: int
    to: int

    @property
    def where(self) -> str:
        return f"the leader of {self.topic}/{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveLeader(ClusterChange):
    """Leave a partition without a leader."""

    topic: str
    partition: int

    @property
    def where(self) -> str:
        return f"the leader of {self.topic}/{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopic(ClusterChange):
    """Forget a topic; its log stays, and is found again when that is undone."""

    topic: str

    @property
    def where(self) -> str:
        return f"topic {self.topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMembers(ClusterChange):
    """Brokers are members no more: others have their replicas and lead their partitions, metadata names them nowhere.

    `foreign`: each of them goes on answering, as the only broker of another cluster that has no topics.
    """

    brokers: tuple[int, ...]
    foreign: bool = False

    @property
    def where(self) -> str:
        return f"the membership of {', '.join(f'broker {broker}' for broker in self.brokers)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMembers(ClusterChange):
    """Brokers that are no members become members: they have the replicas, and lead the partitions, that the cluster's
    declaration gives them, and metadata names them."""

    brokers: tuple[int, ...]

    @property
    def where(self) -> str:
        return RemoveMembers(brokers=self.brokers).where


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReplicating(ClusterChange):
    """A broker no longer fetches from leaders, though it is still in their in-sync replicas."""

    broker: int

    @property
    def where(self) -> str:
        return f"broker {self.broker}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FenceBroker(ClusterChange):
    """The controller gives a broker up, as KRaft does at the end of its session: it leaves every set of in-sync
    replicas, others lead what it led, and metadata does not list it. Undone, it follows those who lead now."""

    broker: int

    @property
    def where(self) -> str:
        return f"broker {self.broker}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapVersions(ClusterChange):
    """Have a broker speak no higher versions than these; -1: not that API at all.

    APIs go by the names that intercepts use (`produce`). One that is not named is spoken in all versions.
    """

    broker: int
    highest: Mapping[str, int] = field(default_factory=dict)

    @property
    def seen_in(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("api_versions", *self.highest)))

    @property
    def seen_at(self) -> int:
        return self.broker

    @property
    def caps(self) -> bool:
        return True

    @property
    def where(self) -> str:
        return f"broker {self.broker}"


@lever("change_cluster")
@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCluster(Lever):
    """Change the cluster's state; undone, the state is as it would be without.

    Evidence: ChangeMet.
    """

    change: ClusterChange

    @property
    def where(self) -> str:
        return self.change.where


@lever("hold_state")
@dataclass(frozen=True, slots=True, kw_only=True)
class HoldState(BrokerLever):
    """Let a broker hear nothing of the cluster's changes; undone, it hears of the last one.

    Evidence: ChangeMet, of requests that it answered while it was behind.
    """
