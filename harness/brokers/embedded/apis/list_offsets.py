"""ListOffsets, versions 1-7.

- Latest (-1) is the offset behind the last record, earliest (-2) is 0, the newest record (-3) from version 7 on.
- A time gives the first record at or after it, offset -1 where there is none.
- A leader epoch that the client names is compared with the broker's (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH).
- The isolation level makes no difference: there are no transactions.
"""

from client.wire.apis.list_offsets import (
    EARLIEST,
    LATEST,
    LIST_OFFSETS,
    MAX_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.log import PartitionLog
from harness.brokers.embedded.node import Node, PartitionError

_NO_RECORD = (-1, -1)


def _error_response(node: Node, request: Request, code: int) -> ListOffsetsResponse:
    body: ListOffsetsRequest = request.body
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=tuple(
                    ListOffsetsPartitionResponse(partition_index=p.partition_index, error_code=code)
                    for p in topic.partitions
                ),
            )
            for topic in body.topics
        )
    )


@handles(LIST_OFFSETS, versions=range(1, 8), error_response=_error_response)
async def list_offsets(node: Node, request: Request) -> ListOffsetsResponse:
    body: ListOffsetsRequest = request.body
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name, partitions=tuple(_offset(node, topic.name, p) for p in topic.partitions)
            )
            for topic in body.topics
        )
    )


def _offset(node: Node, topic: str, asked: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    try:
        led_partition = node.led_partition(topic, asked.partition_index, asked.current_leader_epoch)
    except PartitionError as refusal:
        return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=refusal.code)
    offset, timestamp_ms = _found(led_partition.log, asked.timestamp)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index, timestamp=timestamp_ms, offset=offset, leader_epoch=led_partition.epoch
    )


def _found(log: PartitionLog, timestamp: int) -> tuple[int, int]:
    if timestamp == LATEST:
        return log.end_offset, -1
    if timestamp == EARLIEST:
        return 0, -1
    if timestamp == MAX_TIMESTAMP:
        return log.newest_record() or _NO_RECORD
    return log.offset_at(timestamp) or _NO_RECORD
