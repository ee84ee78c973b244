"""The kinds of clusters that a run can have, by name: one file a kind in `kinds`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from client.registry import Registry
from harness.cluster_view import ClusterView
from harness.levers import ClusterChange, Lever
from harness.plan import ClusterShape
from harness.suggestions import did_you_mean

EMBEDDED = "embedded"
"""What a run has unless it asks for another."""


class UnknownClusterKind(LookupError):
    """There is no kind of brokers of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why brokers cannot do what a lever asks of them: `name` is none of the `known` ones.

    `doing` is the end of `... cannot`; `code` is stable. `advice` is the hint where no known name is near.
    """

    code: str
    doing: str
    reason: str
    name: str
    known: tuple[str, ...]
    advice: str = ""

    @property
    def hint(self) -> str:
        return did_you_mean(self.name, self.known) or self.advice

    def __str__(self) -> str:
        return f"{self.doing}: {self.reason}" + (f", {self.hint}" if self.hint else "")


class ClusterModel(Protocol):
    """What changes would make of a cluster. A value: models of equal clusters with equal pasts are equal."""

    @property
    def view(self) -> ClusterView: ...

    def changed(self, change: ClusterChange) -> "ClusterModel":
        """Raises ClusterStateError for a change that cannot be."""
        ...

    def undone(self, change: ClusterChange) -> "ClusterModel":
        """Without the last one of several equal changes. Raises ClusterStateError where that cannot be."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterKind:
    """What is known of a kind of brokers before any is started.

    `refuses` says all that its brokers cannot do of what a lever asks of them. `memory_bytes` is what so many brokers
    need. `model` is a cluster of that shape as it begins; it raises ClusterStateError for one that cannot be.
    """

    name: str
    refuses: Callable[[Lever], tuple[Refusal, ...]]
    memory_bytes: Callable[[int], int]
    model: Callable[[ClusterShape], ClusterModel]


CLUSTER_KINDS: Registry[ClusterKind] = Registry("brokers", "harness.brokers.kinds")


def cluster_kind(name: str) -> ClusterKind:
    """Raises UnknownClusterKind, ExtensionError."""
    if name not in CLUSTER_KINDS:
        raise UnknownClusterKind(f"there are no {name} brokers; {did_you_mean(name, CLUSTER_KINDS)}")
    return CLUSTER_KINDS[name]
