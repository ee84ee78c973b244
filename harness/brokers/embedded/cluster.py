"""What a cluster agrees on: which brokers there are, where clients find them, who leads each partition, since when.

A state is a value with an epoch. The controller makes the next one and pushes it; a broker takes it if its epoch is
higher than the one it has, so that a state that arrives late changes nothing.
"""

import json
import re
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from harness.brokers.cluster import ClusterStateError
from harness.cluster_view import ClusterView, PartitionView
from harness.memo import memoize_last

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
NO_LEADER = -1
FOREIGN_CLUSTER = "another-cluster"


ApiVersions = tuple[tuple[int, int, int], ...]
"""The key of each API that a broker speaks, its lowest and its highest version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerState:
    """A broker that is a member, with the address that it advertises: a proxy's, where there is one before it.

    `api_versions`: what it speaks; None: all that this broker has handlers for. `fenced`: the controller has given it
    up, and metadata does not list it.
    """

    broker_id: int
    host: str
    port: int
    api_versions: ApiVersions | None = None
    fenced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """`leader` is NO_LEADER where there is none. `leader_epoch` goes up whenever the leader changes."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicState:
    """A topic; its partitions stand in the order of their indexes. Raises ClusterStateError for a name that Kafka
    refuses.

    Names become files' names: what Kafka refuses (a slash, `..`) is dangerous there, too.
    """

    name: str
    partitions: tuple[PartitionState, ...]

    def __post_init__(self) -> None:
        if not _LEGAL_NAME.fullmatch(self.name) or self.name in (".", ".."):
            legal = "1 to 249 of a-z A-Z 0-9 . _ - and not . or .. alone"
            raise ClusterStateError(f"topic name {self.name!r} is not legal: {legal}")

    @property
    def topic_id(self) -> UUID:
        """Made of the name, so that every broker and every run has the same one."""
        return _topic_id(self.name)


@cache
def _topic_id(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"topic:{name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """The whole cluster at one epoch.

    `not_replicating` are brokers that fetch nothing from leaders, though in-sync replicas name them: acknowledgements
    of all replicas wait for them. `foreign` were members and are a cluster of their own now, each by itself.
    """

    epoch: int
    cluster_id: str
    controller_id: int
    brokers: tuple[BrokerState, ...]
    topics: tuple[TopicState, ...]
    not_replicating: tuple[int, ...] = ()
    foreign: tuple[BrokerState, ...] = ()

    @memoize_last
    def view(self) -> ClusterView:
        """The state as faults see it."""
        return ClusterView(
            brokers=tuple(broker.broker_id for broker in self.brokers),
            controller=self.controller_id,
            topics={
                topic.name: tuple(
                    PartitionView(leader=None if each.leader == NO_LEADER else each.leader, replicas=each.replicas)
                    for each in topic.partitions
                )
                for topic in self.topics
            },
        )

    def differs_from(self, earlier: "ClusterState") -> bool:
        """In more than the epoch."""
        return replace(self, epoch=earlier.epoch) != earlier

    def seen_by(self, broker_id: int) -> "ClusterState":
        """The state as a broker takes it: for a foreign one, that of its own cluster."""
        alone = next((broker for broker in self.foreign if broker.broker_id == broker_id), None)
        if alone is None:
            return self
        return ClusterState(
            epoch=self.epoch, cluster_id=FOREIGN_CLUSTER, controller_id=broker_id, brokers=(alone,), topics=()
        )

    def has_broker(self, broker_id: int) -> bool:
        """Whether it is a member that metadata lists."""
        found = self.broker(broker_id)
        return found is not None and not found.fenced

    def broker(self, broker_id: int) -> BrokerState | None:
        return next((b for b in self.brokers if b.broker_id == broker_id), None)

    def topic(self, name: str) -> TopicState | None:
        return next((t for t in self.topics if t.name == name), None)

    def topic_of_id(self, topic_id: UUID) -> TopicState | None:
        return next((t for t in self.topics if t.topic_id == topic_id), None)

    def partition(self, topic: str, index: int) -> PartitionState | None:
        found = self.topic(topic)
        if found is None or not 0 <= index < len(found.partitions):
            return None
        return found.partitions[index]


def encode_state(state: ClusterState) -> str:
    """One line of JSON without its line end."""
    return json.dumps(asdict(state), separators=(",", ":"))


def decode_state(text: str | bytes) -> ClusterState:
    """The state that `encode_state` wrote. Raises ClusterStateError."""
    try:
        raw = json.loads(text)
        return ClusterState(
            epoch=int(raw["epoch"]),
            cluster_id=str(raw["cluster_id"]),
            controller_id=int(raw["controller_id"]),
            brokers=tuple(_broker(b) for b in raw["brokers"]),
            topics=tuple(TopicState(name=t["name"], partitions=_partitions(t["partitions"])) for t in raw["topics"]),
            not_replicating=tuple(int(broker) for broker in raw.get("not_replicating", ())),
            foreign=tuple(_broker(b) for b in raw.get("foreign", ())),
        )
    except ClusterStateError:
        raise
    except (ValueError, KeyError, TypeError) as wrong:
        raise ClusterStateError(f"no cluster state: {type(wrong).__name__}: {wrong}") from wrong


def _broker(raw: Any) -> BrokerState:
    versions = raw.get("api_versions")
    return BrokerState(
        broker_id=int(raw["broker_id"]),
        host=str(raw["host"]),
        port=int(raw["port"]),
        api_versions=None if versions is None else tuple((int(k), int(low), int(high)) for k, low, high in versions),
        fenced=bool(raw.get("fenced", False)),
    )


def _partitions(raw: Any) -> tuple[PartitionState, ...]:
    return tuple(
        PartitionState(
            leader=int(p["leader"]),
            leader_epoch=int(p["leader_epoch"]),
            replicas=tuple(int(r) for r in p["replicas"]),
            isr=tuple(int(r) for r in p["isr"]),
        )
        for p in raw
    )
