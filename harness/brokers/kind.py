"""The kinds of clusters that a run can have, by name: one file a kind in `kinds`."""

from collections.abc import Callable
from dataclasses import dataclass

from client.registry import Registry
from harness.levers import Lever
from harness.suggestions import did_you_mean

EMBEDDED = "embedded"
"""What a run has unless it asks for another."""


class UnknownClusterKind(LookupError):
    """There is no kind of brokers of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterKind:
    """What is known of a kind of brokers before any is started.

    `refuses` says why its brokers cannot do what a lever asks of them, as the end of `... cannot`; None where they can.
    `memory_bytes` is what so many brokers need.
    """

    name: str
    refuses: Callable[[Lever], str | None]
    memory_bytes: Callable[[int], int]


CLUSTER_KINDS: Registry[ClusterKind] = Registry("brokers", "harness.brokers.kinds")


def cluster_kind(name: str) -> ClusterKind:
    """Raises UnknownClusterKind, ExtensionError."""
    if name not in CLUSTER_KINDS:
        raise UnknownClusterKind(f"there are no {name} brokers; {did_you_mean(name, CLUSTER_KINDS)}")
    return CLUSTER_KINDS[name]
