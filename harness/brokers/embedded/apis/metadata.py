"""Metadata, versions 0-12.

- Describes the cluster at this broker's epoch; brokers with the addresses that they advertise, fenced ones not.
- Topics are never created: an unknown one gets UNKNOWN_TOPIC_OR_PARTITION, an unknown id UNKNOWN_TOPIC_ID.
- A partition whose leader is gone has leader -1 and LEADER_NOT_AVAILABLE; replicas that are gone are offline.
- No topics named: all of them (version 0 says so with an empty list, later ones with null).
"""

from dataclasses import replace

from client.wire import errors
from client.wire.apis.metadata import (
    METADATA,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from client.wire.messages import Request
from harness.brokers.embedded.cluster import NO_LEADER, ClusterState, PartitionState, TopicState
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Node


def _error_response(node: Node, request: Request, code: int) -> MetadataResponse:
    """The brokers as usual, and an error for each topic."""
    answer = _answer(node, request)
    return replace(answer, topics=tuple(replace(topic, error_code=code, partitions=()) for topic in answer.topics))


@handles(METADATA, versions=range(13), error_response=_error_response)
async def metadata(node: Node, request: Request) -> MetadataResponse:
    return _answer(node, request)


def _answer(node: Node, request: Request) -> MetadataResponse:
    state = node.state
    body: MetadataRequest = request.body
    everything = body.topics is None or (request.version == 0 and not body.topics)
    asked = () if body.topics is None else body.topics
    topics = tuple(_known(state, t) for t in state.topics) if everything else tuple(_asked(state, t) for t in asked)
    return MetadataResponse(
        brokers=tuple(
            MetadataResponseBroker(node_id=b.broker_id, host=b.host, port=b.port) for b in state.brokers if not b.fenced
        ),
        cluster_id=state.cluster_id,
        controller_id=state.controller_id,
        topics=topics,
    )


def _asked(state: ClusterState, asked: MetadataRequestTopic) -> MetadataResponseTopic:
    if asked.name is not None:
        by_name = state.topic(asked.name)
        if by_name is None:
            return MetadataResponseTopic(error_code=errors.UNKNOWN_TOPIC_OR_PARTITION, name=asked.name)
        return _known(state, by_name)
    by_id = None if asked.topic_id is None else state.topic_of_id(asked.topic_id)
    if by_id is None:
        # Before version 12 a response cannot do without a name.
        return MetadataResponseTopic(error_code=errors.UNKNOWN_TOPIC_ID, name="", topic_id=asked.topic_id)
    return _known(state, by_id)


def _known(state: ClusterState, topic: TopicState) -> MetadataResponseTopic:
    partitions = tuple(_partition(state, i, p) for i, p in enumerate(topic.partitions))
    return MetadataResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)


def _partition(state: ClusterState, index: int, partition: PartitionState) -> MetadataResponsePartition:
    has_leader = state.has_broker(partition.leader)
    return MetadataResponsePartition(
        error_code=errors.NONE if has_leader else errors.LEADER_NOT_AVAILABLE,
        partition_index=index,
        leader_id=partition.leader if has_leader else NO_LEADER,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        offline_replicas=tuple(r for r in partition.replicas if not state.has_broker(r)),
    )
