"""The cluster as a fault sees it at the moment of its injection: what broker selectors are resolved against."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionView:
    """`leader` is None where the partition has none."""

    leader: int | None
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """`brokers` are the ids of the cluster's members, `topics` their partitions in order. `departed` are no members
    now, and still have addresses, to which faults may happen.

    `selected` are the brokers that faults in force work on. `seed` gives one fault's chance: the same seed chooses the
    same brokers.
    """

    brokers: tuple[int, ...]
    controller: int
    topics: Mapping[str, tuple[PartitionView, ...]]
    departed: tuple[int, ...] = ()
    selected: frozenset[int] = frozenset()
    seed: str = ""

    def chance(self) -> Random:
        """A new source of chance, which begins anew at each call."""
        return Random(self.seed)


def replicas_of(leader: int, brokers: tuple[int, ...], replication: int) -> tuple[int, ...]:
    """Where a partition's replicas are: on its first leader, and on the brokers that come after it."""
    if leader not in brokers:
        return (leader,)
    at = brokers.index(leader)
    return (brokers[at:] + brokers[:at])[:replication]
