"""CreateTopics, versions 2-6.

- Only the controller creates: others answer NOT_CONTROLLER. The next leaders come from the members in turn.
- Answered when this broker has the state with the topics; others may have it a moment later, as in Kafka. The request's
  time-out bounds the wait: REQUEST_TIMED_OUT, and the topic may come all the same.
- TOPIC_ALREADY_EXISTS, INVALID_TOPIC_EXCEPTION, INVALID_PARTITIONS (also above 10,000), INVALID_REPLICATION_FACTOR.
  Assignments by hand and configurations: INVALID_REQUEST. Nothing is created with `validate_only`.
"""

import asyncio

from client.wire import errors
from client.wire.apis.create_topics import (
    CREATE_TOPICS,
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from client.wire.messages import Request
from harness.brokers.cluster import ClusterStateError
from harness.brokers.embedded.cluster import TopicState
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Node

_OURS = -1
"""What asks for the broker's default, which is 1."""
_MOST_PARTITIONS = 10_000
"""A cluster of the lab fits into a process or two: garbage must not fill them."""


def _error_response(node: Node, request: Request, code: int) -> CreateTopicsResponse:
    body: CreateTopicsRequest = request.body
    return CreateTopicsResponse(
        topics=tuple(CreatableTopicResult(name=topic.name, error_code=code) for topic in body.topics)
    )


@handles(CREATE_TOPICS, versions=range(2, 7), error_response=_error_response)
async def create_topics(node: Node, request: Request) -> CreateTopicsResponse:
    body: CreateTopicsRequest = request.body
    if node.broker_id != node.state.controller_id:
        return _error_response(node, request, errors.NOT_CONTROLLER)
    codes = {topic.name: _refusal(node, topic) for topic in body.topics}
    wanted = [topic for topic in body.topics if codes[topic.name] == errors.NONE and not body.validate_only]
    for topic in wanted:
        node.create_topic(topic.name, _count(topic.num_partitions), _count(topic.replication_factor))
    deadline_s = asyncio.get_running_loop().time() + body.timeout_ms / 1000
    for topic in wanted:
        while node.state.topic(topic.name) is None:
            if not await node.wait_for_change(deadline_s):
                codes[topic.name] = errors.REQUEST_TIMED_OUT
                break
    return CreateTopicsResponse(
        topics=tuple(CreatableTopicResult(name=name, error_code=code) for name, code in codes.items())
    )


def _refusal(node: Node, topic: CreatableTopic) -> int:
    """Why it cannot be created, NONE where it can."""
    if topic.assignments or topic.configs:
        return errors.INVALID_REQUEST
    try:
        TopicState(name=topic.name, partitions=())
    except ClusterStateError:
        return errors.INVALID_TOPIC_EXCEPTION
    if node.state.topic(topic.name) is not None:
        return errors.TOPIC_ALREADY_EXISTS
    if not 1 <= _count(topic.num_partitions) <= _MOST_PARTITIONS:
        return errors.INVALID_PARTITIONS
    if not 1 <= _count(topic.replication_factor) <= len(node.state.brokers):
        return errors.INVALID_REPLICATION_FACTOR
    return errors.NONE


def _count(asked: int) -> int:
    return 1 if asked == _OURS else asked
