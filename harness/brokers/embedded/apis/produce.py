"""Produce, versions 3-9.

- One batch of magic 2 for a partition, as Apache Kafka demands from version 3 on; header, checksum and, where it is
  not compressed, every record are looked at before anything is appended. Compressed batches are kept as they came.
- acks 1: answered when the batch is in the log, which all replicas share; -1: when no in-sync replica has stopped
  replicating either, or with REQUEST_TIMED_OUT after the request's time-out, though the batch stays. acks 0: not
  answered at all; an error then closes the connection, as Kafka does it.
- Unknown topics UNKNOWN_TOPIC_OR_PARTITION, other leaders and fenced ones NOT_LEADER_OR_FOLLOWER, damaged batches
  CORRUPT_MESSAGE, unfit ones INVALID_RECORD, large ones MESSAGE_TOO_LARGE, other acks INVALID_REQUIRED_ACKS.
- Idempotent producers: a repeated batch gets its old offset, a gap OUT_OF_ORDER_SEQUENCE_NUMBER, an old epoch
  INVALID_PRODUCER_EPOCH. Transactions: INVALID_REQUEST.
- The highest time of a batch is computed from its records, as Kafka does it: Sarama leaves it out.

Source: apache/kafka LogValidator.java, KafkaApis.scala.
"""

import asyncio
from dataclasses import replace

from client.wire import errors
from client.wire.apis.produce import (
    PRODUCE,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from client.wire.batch_header import LOG_APPEND_TIME, write_header
from client.wire.messages import Request
from client.wire.records import (
    HEADER_BYTES,
    TRANSACTIONAL,
    BatchHeader,
    Compression,
    RecordsError,
    check_crc,
    decode_batch,
    read_header,
)
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Disconnect, Node, PartitionError
from harness.brokers.embedded.producers import SequenceError, StaleProducer

MAX_BATCH_BYTES = 1_048_588
"""Apache Kafka's default of `message.max.bytes`."""

_ZSTD_FROM_VERSION = 7

_REFUSED: dict[str, int] = {
    "truncated": errors.CORRUPT_MESSAGE,
    "crc": errors.CORRUPT_MESSAGE,
    "malformed": errors.CORRUPT_MESSAGE,
    "magic": errors.INVALID_RECORD,
}
"""The error for each reason of a RecordsError."""


class _InvalidBatch(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def _error_response(node: Node, request: Request, code: int) -> ProduceResponse | None:
    """Raises Disconnect where no response is due."""
    body: ProduceRequest = request.body
    if body.acks == 0:
        raise Disconnect(f"{errors.error_of(code).name} with acks 0")
    return ProduceResponse(
        responses=tuple(
            TopicProduceResponse(
                name=topic.name,
                partition_responses=tuple(
                    PartitionProduceResponse(index=data.index, error_code=code) for data in topic.partition_data
                ),
            )
            for topic in body.topic_data
        )
    )


@handles(PRODUCE, versions=range(3, 10), error_response=_error_response)
async def produce(node: Node, request: Request) -> ProduceResponse | None:
    body: ProduceRequest = request.body
    answered = tuple(
        TopicProduceResponse(
            name=topic.name,
            partition_responses=tuple(_append(node, request, topic.name, p) for p in topic.partition_data),
        )
        for topic in body.topic_data
    )
    if body.acks == -1 and node.state.not_replicating:
        return ProduceResponse(responses=await _replicated(node, answered, body.timeout_ms))
    if body.acks != 0:
        return ProduceResponse(responses=answered)
    for topic in answered:
        for partition in topic.partition_responses:
            if partition.error_code != errors.NONE:
                name = errors.error_of(partition.error_code).name
                raise Disconnect(f"{topic.name}-{partition.index} with acks 0: {name}")
    return None


async def _replicated(
    node: Node, answered: tuple[TopicProduceResponse, ...], timeout_ms: int
) -> tuple[TopicProduceResponse, ...]:
    """The same once every in-sync replica has what was appended, as DelayedProduce waits for it."""
    deadline_s = asyncio.get_running_loop().time() + timeout_ms / 1000
    appended = [
        (topic.name, each.index) for topic in answered for each in topic.partition_responses if each.error_code == 0
    ]
    epochs = {key: placed.leader_epoch for key in appended if (placed := node.state.partition(*key))}
    for replica in sorted({replica for key in appended for replica in _lagging(node, *key)}):
        node.waits_for(replica)
    failed: dict[tuple[str, int], int] = {}
    while waiting := [key for key in appended if key not in failed and _lagging(node, *key)]:
        if not await node.wait_for_change(deadline_s):
            failed |= dict.fromkeys(waiting, errors.REQUEST_TIMED_OUT)
        failed |= {key: errors.NOT_LEADER_OR_FOLLOWER for key in waiting if not _leads_since(node, key, epochs[key])}
    return tuple(
        replace(
            topic,
            partition_responses=tuple(
                replace(each, error_code=failed.get((topic.name, each.index), each.error_code))
                for each in topic.partition_responses
            ),
        )
        for topic in answered
    )


def _lagging(node: Node, topic: str, partition: int) -> list[int]:
    """The brokers of in-sync replicas that have stopped replicating."""
    placed = node.state.partition(topic, partition)
    in_sync = () if placed is None else placed.isr
    return [broker for broker in in_sync if broker in node.state.not_replicating and broker != node.broker_id]


def _leads_since(node: Node, key: tuple[str, int], epoch: int) -> bool:
    placed = node.state.partition(*key)
    return placed is not None and placed.leader == node.broker_id and placed.leader_epoch == epoch


def _append(node: Node, request: Request, topic: str, data: PartitionProduceData) -> PartitionProduceResponse:
    body: ProduceRequest = request.body
    try:
        if body.acks not in (-1, 0, 1):
            raise _InvalidBatch(errors.INVALID_REQUIRED_ACKS, f"acks is {body.acks}")
        node.led_partition(topic, data.index)
        batch = _accepted(data.records or b"", request.version)
        offset = node.append(topic, data.index, batch)
    except PartitionError as refusal:
        return PartitionProduceResponse(index=data.index, error_code=refusal.code)
    except _InvalidBatch as unfit:
        return PartitionProduceResponse(index=data.index, error_code=unfit.code, error_message=str(unfit))
    except SequenceError as wrong:
        return PartitionProduceResponse(
            index=data.index, error_code=errors.OUT_OF_ORDER_SEQUENCE_NUMBER, error_message=str(wrong)
        )
    except StaleProducer as wrong:
        return PartitionProduceResponse(
            index=data.index, error_code=errors.INVALID_PRODUCER_EPOCH, error_message=str(wrong)
        )
    return PartitionProduceResponse(index=data.index, base_offset=offset, log_start_offset=0)


def _accepted(records: bytes, version: int) -> bytes:
    """The one batch of a partition, ready for the log. Raises _Unfit."""
    if not records:
        raise _InvalidBatch(errors.INVALID_RECORD, "no record batch")
    try:
        header = read_header(records)
        if header.size_bytes != len(records):
            raise _InvalidBatch(errors.INVALID_RECORD, "more than one record batch for a partition")
        if header.size_bytes > MAX_BATCH_BYTES:
            raise _InvalidBatch(errors.MESSAGE_TOO_LARGE, f"{header.size_bytes} bytes, {MAX_BATCH_BYTES} at most")
        check_crc(records, header)
        if header.attributes & TRANSACTIONAL:
            raise _InvalidBatch(errors.INVALID_REQUEST, "transactions are not supported")
        if header.codec != Compression.NONE:
            return _compressed(records, header, version)
        return _plain(records, header)
    except RecordsError as wrong:
        raise _InvalidBatch(_REFUSED[wrong.reason], str(wrong)) from wrong


def _compressed(records: bytes, header: BatchHeader, version: int) -> bytes:
    known = header.codec in set(Compression)
    if not known or (header.codec == Compression.ZSTD and version < _ZSTD_FROM_VERSION):
        raise _InvalidBatch(errors.UNSUPPORTED_COMPRESSION_TYPE, f"{header.codec_name} in Produce v{version}")
    return records


def _plain(records: bytes, header: BatchHeader) -> bytes:
    batch = decode_batch(records, header)
    deltas = [r.offset_delta for r in batch.records]
    if not deltas or deltas != list(range(header.last_offset_delta + 1)):
        raise _InvalidBatch(errors.INVALID_RECORD, "records are not numbered 0, 1, 2, ... up to the last offset delta")
    if header.attributes & LOG_APPEND_TIME:
        raise _InvalidBatch(errors.INVALID_RECORD, "a producer must not say that the broker set the time")
    newest_ms = max(batch.timestamp_ms_of(r) for r in batch.records)
    if newest_ms == header.max_timestamp_ms:
        return records
    return write_header(replace(header, max_timestamp_ms=newest_ms), records[HEADER_BYTES:])
