"""Fetch, versions 4-12.

- Waits until `min_bytes` are there, `max_wait_ms` are over, or a partition of the request has an error.
- Whole batches only, from the one that holds the offset; the first batch of an answer comes even if it is over the
  limits (KIP-74), so that a consumer never gets stuck.
- An offset behind the end gets OFFSET_OUT_OF_RANGE; leader epochs are compared with the broker's (KIP-320).
- No fetch sessions: session id 0 makes the client name all its partitions each time; any other id that it names gets
  FETCH_SESSION_ID_NOT_FOUND (KIP-227). The isolation level makes no difference: there are no transactions.
"""

import asyncio

from client.wire import errors
from client.wire.apis.fetch import (
    FETCH,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Node, PartitionError


def _error_response(node: Node, request: Request, code: int) -> FetchResponse:
    body: FetchRequest = request.body
    return FetchResponse(
        responses=tuple(
            FetchableTopicResponse(topic=topic.topic, partitions=tuple(_error(p, code) for p in topic.partitions))
            for topic in body.topics
        )
    )


def _error(asked: FetchPartition, code: int) -> PartitionData:
    return PartitionData(partition_index=asked.partition, error_code=code, high_watermark=-1, records=b"")


@handles(FETCH, versions=range(4, 13), error_response=_error_response)
async def fetch(node: Node, request: Request) -> FetchResponse:
    body: FetchRequest = request.body
    if body.session_id != 0:
        return FetchResponse(error_code=errors.FETCH_SESSION_ID_NOT_FOUND)
    deadline_s = asyncio.get_running_loop().time() + body.max_wait_ms / 1000
    while True:
        response = _read(node, body)
        if _is_enough(response, body.min_bytes) or not await node.wait_for_change(deadline_s):
            return response


def _is_enough(response: FetchResponse, min_bytes: int) -> bool:
    partitions = [p for topic in response.responses for p in topic.partitions]
    if not partitions or any(p.error_code != errors.NONE for p in partitions):
        return True
    return sum(len(p.records or b"") for p in partitions) >= min_bytes


def _read(node: Node, body: FetchRequest) -> FetchResponse:
    left = body.max_bytes
    first = True
    topics = []
    for topic in body.topics:
        partitions = []
        for asked in topic.partitions:
            data = _partition(node, topic.topic, asked, left, first=first)
            size_bytes = len(data.records or b"")
            left -= size_bytes
            first = first and size_bytes == 0
            partitions.append(data)
        topics.append(FetchableTopicResponse(topic=topic.topic, partitions=tuple(partitions)))
    return FetchResponse(responses=tuple(topics))


def _partition(node: Node, topic: str, asked: FetchPartition, left: int, *, first: bool) -> PartitionData:
    try:
        log = node.led_partition(topic, asked.partition, asked.current_leader_epoch).log
        if not 0 <= asked.fetch_offset <= log.end_offset:
            raise PartitionError(errors.OFFSET_OUT_OF_RANGE)
    except PartitionError as refusal:
        return _error(asked, refusal.code)
    max_bytes = min(asked.partition_max_bytes, left)
    return PartitionData(
        partition_index=asked.partition,
        high_watermark=log.end_offset,
        last_stable_offset=log.end_offset,
        log_start_offset=0,
        records=log.read(asked.fetch_offset, max_bytes=max_bytes, at_least_one=first),
    )
