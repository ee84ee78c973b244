"""The cluster as the last metadata showed it, and which broker a request goes to.

Source: segmentio/kafka-go v0.4.8 transport.go (makeLayout), protocol/produce, protocol/createtopics,
protocol/listoffsets (Broker, Split, Merge).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from client.profiles.kafka_go.errors import GoError, no_leader, no_partition, no_topic
from client.wire.apis.create_topics import CreateTopicsRequest
from client.wire.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from client.wire.apis.metadata import MetadataResponse
from client.wire.apis.produce import ProduceRequest

CONTROL = -1
"""No broker in particular: what the control connection carries."""
_UNKNOWN = -1


class LayoutBroker(NamedTuple):
    """What makes a broker the same as before: another address or rack makes it a new one."""

    broker_id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """`leaders` by topic and partition."""

    controller: int = 0
    brokers: Mapping[int, LayoutBroker] = field(default_factory=dict)
    leaders: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


def make_layout(metadata: MetadataResponse) -> Layout:
    """Internal topics are left out."""
    return Layout(
        controller=metadata.controller_id,
        brokers={b.node_id: LayoutBroker(b.node_id, b.host, b.port, b.rack) for b in metadata.brokers},
        leaders={
            topic.name or "": {partition.partition_index: partition.leader_id for partition in topic.partitions}
            for topic in metadata.topics
            if not topic.is_internal
        },
    )


def broker_for(request: object, layout: Layout) -> int:
    """The id of the broker that a request goes to, CONTROL where any will do. Raises GoError."""
    route = _ROUTES.get(type(request))
    return CONTROL if route is None else route(request, layout)


def _broker_for_produce(request: ProduceRequest, layout: Layout) -> int:
    (topic,) = request.topic_data  # a Produce is never split: the Writer puts one partition into it
    (partition,) = topic.partition_data
    leaders = layout.leaders.get(topic.name)
    if leaders is None:
        raise no_topic(topic.name).wrap(_PRODUCE_PREFIX)
    if partition.index not in leaders:
        raise no_partition(topic.name, partition.index).wrap(_PRODUCE_PREFIX)
    if leaders[partition.index] not in layout.brokers:
        raise no_leader(topic.name, partition.index).wrap(_PRODUCE_PREFIX)
    return leaders[partition.index]


_PRODUCE_PREFIX = "fetch request error"
"""Upstream's word for it."""


def _broker_for_create_topics(_request: CreateTopicsRequest, layout: Layout) -> int:
    """The controller; a missing one is Go's zero value, whose id is 0."""
    return layout.controller if layout.controller in layout.brokers else 0


def _broker_for_list_offsets(request: ListOffsetsRequest, layout: Layout) -> int:
    (topic,) = request.topics
    (partition,) = topic.partitions
    leader = layout.leaders.get(topic.name, {}).get(partition.partition_index)
    if leader is None:
        return CONTROL
    return leader if leader in layout.brokers else 0


_ROUTES: Mapping[type, Callable[[Any, Layout], int]] = {
    ProduceRequest: _broker_for_produce,
    CreateTopicsRequest: _broker_for_create_topics,
    ListOffsetsRequest: _broker_for_list_offsets,
}


def split_list_offsets(request: ListOffsetsRequest) -> tuple[ListOffsetsRequest, ...]:
    """A request for each partition."""
    return tuple(
        ListOffsetsRequest(
            replica_id=request.replica_id,
            isolation_level=request.isolation_level,
            topics=(type(topic)(name=topic.name, partitions=(partition,)),),
        )
        for topic in request.topics
        for partition in topic.partitions
    )


def merge_list_offsets(
    requests: Sequence[ListOffsetsRequest], results: Sequence[ListOffsetsResponse | GoError]
) -> ListOffsetsResponse:
    """One response of all; a partition whose request failed has error -1. Raises the first error where all failed."""
    found: dict[str, list[ListOffsetsPartitionResponse]] = {}
    failures = [result for result in results if isinstance(result, GoError)]
    if failures and len(failures) == len(results):
        raise failures[0]
    throttle_time_ms = 0
    for request, result in zip(requests, results, strict=True):
        (topic,) = request.topics
        (asked,) = topic.partitions
        if isinstance(result, GoError):
            lost = ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=_UNKNOWN)
            found.setdefault(topic.name, []).append(lost)
            continue
        throttle_time_ms = max(throttle_time_ms, result.throttle_time_ms)
        for answered in result.topics:
            found.setdefault(answered.name, []).extend(answered.partitions)
    topics = tuple(
        ListOffsetsTopicResponse(
            name=name, partitions=tuple(sorted(found[name], key=lambda one: (one.partition_index, one.offset)))
        )
        for name in sorted(found)
    )
    return ListOffsetsResponse(throttle_time_ms=throttle_time_ms, topics=topics)
