"""A metadata response as clients look things up in it."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.wire.apis.metadata import MetadataResponse
from client.wire.errors import LEADER_NOT_AVAILABLE, NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A broker and where it says that it listens."""

    id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """`leader` is a broker's id, -1 for none; `error` a Kafka error code."""

    id: int
    leader: int
    error: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """`partitions` by id, in the order of the response."""

    name: str
    error: int
    partitions: Mapping[int, Partition]

    @property
    def partition_ids(self) -> tuple[int, ...]:
        """Every partition, in order of its id."""
        return tuple(sorted(self.partitions))

    @property
    def writable_ids(self) -> tuple[int, ...]:
        """Those that have a leader, in order of their id."""
        return tuple(sorted(p.id for p in self.partitions.values() if p.error != LEADER_NOT_AVAILABLE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One answer of one broker. `nodes` and `topics` are in the order of the response."""

    nodes: tuple[Node, ...]
    controller: int
    topics: tuple[Topic, ...]

    def topic(self, name: str) -> Topic | None:
        for topic in self.topics:
            if topic.name == name:
                return topic
        return None

    def leader(self, topic: str, partition: int) -> Node | None:
        """The broker that leads the partition; None where partition, leader or broker is not known."""
        known = self.topic(topic)
        if known is None or known.error != NONE or partition not in known.partitions:
            return None
        leader = known.partitions[partition].leader
        for node in self.nodes:
            if node.id == leader:
                return node
        return None


def snapshot_from_response(response: MetadataResponse) -> Snapshot:
    """The response of any version."""
    return Snapshot(
        nodes=tuple(Node(id=b.node_id, host=b.host, port=b.port) for b in response.brokers),
        controller=response.controller_id,
        topics=tuple(
            Topic(
                name=topic.name or "",
                error=topic.error_code,
                partitions={
                    p.partition_index: Partition(
                        id=p.partition_index,
                        leader=p.leader_id,
                        error=p.error_code,
                        replicas=p.replica_nodes,
                        in_sync=p.isr_nodes,
                    )
                    for p in topic.partitions
                },
            )
            for topic in response.topics
        ),
    )
