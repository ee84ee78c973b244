"""The Client: one request, and its answer as the program sees it.

Source: segmentio/kafka-go v0.4.8 client.go, produce.go, createtopics.go, listoffset.go.
"""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from client.limit import Limit
from client.profiles.kafka_go.bounded import Bounded
from client.profiles.kafka_go.conn_group import Address
from client.profiles.kafka_go.errors import GoError
from client.profiles.kafka_go.transport import Transport
from client.wire.apis.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from client.wire.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

_CREATE_TOPICS_TIMEOUT_S = 2.0


class Produced(NamedTuple):
    """`error` is what the broker answered for the partition, None for a success."""

    base_offset: int
    error: GoError | None


class Client:
    """`timeout` is the Client's Timeout, None for none."""

    def __init__(self, transport: Transport, addresses: Sequence[Address], timeout: Limit | None = None) -> None:
        self._transport = transport
        self._addresses = addresses
        self._timeout = timeout

    async def produce(
        self, bounded: Bounded, topic: str, partition: int, *, acks: int, records: bytes
    ) -> Produced | None:
        """None where no answer was asked for. Raises GoError."""
        data = TopicProduceData(name=topic, partition_data=(PartitionProduceData(index=partition, records=records),))
        request = ProduceRequest(acks=acks, timeout_ms=self._timeout_ms(bounded, 0.5), topic_data=(data,))
        try:
            response: ProduceResponse | None = await self._round_trip(bounded, request)
        except GoError as error:
            raise error.wrap("kafka.(*Client).Produce") from error
        if response is None:
            return None
        answer = response.responses[0].partition_responses[0]
        return Produced(answer.base_offset, self._error(answer.error_code, answer.error_message))

    async def create_topics(
        self, bounded: Bounded, topic: str, *, partitions: int, replication: int
    ) -> Mapping[str, GoError | None]:
        """What became of each topic. Raises GoError where the request failed."""
        asked = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=replication)
        timeout_ms = self._timeout_ms(bounded, _CREATE_TOPICS_TIMEOUT_S)
        try:
            response: CreateTopicsResponse = await self._round_trip(
                bounded, CreateTopicsRequest(topics=(asked,), timeout_ms=timeout_ms)
            )
        except GoError as error:
            raise error.wrap("kafka.(*Client).CreateTopics") from error
        return {one.name: self._error(one.error_code, one.error_message) for one in response.topics}

    async def list_offsets(
        self, bounded: Bounded, topic: str, partitions: Sequence[int], timestamp: int
    ) -> Mapping[int, int | GoError]:
        """The offset or the error of each partition. Raises GoError where every request failed."""
        asked = tuple(ListOffsetsPartition(partition_index=index, timestamp=timestamp) for index in partitions)
        request = ListOffsetsRequest(topics=(ListOffsetsTopic(name=topic, partitions=asked),))
        try:
            response: ListOffsetsResponse = await self._round_trip(bounded, request)
        except GoError as error:
            raise error.wrap("kafka.(*Client).ListOffsets") from error
        return {
            found.partition_index: self._error(found.error_code, None) or found.offset
            for answered in response.topics
            for found in answered.partitions
        }

    async def _round_trip(self, bounded: Bounded, request: Hashable) -> Any:
        if self._timeout is None:
            return await self._transport.round_trip(bounded, self._addresses, request)
        inner = bounded.within(self._timeout)
        with inner.ctx:
            return await self._transport.round_trip(inner, self._addresses, request)

    def _error(self, code: int, message: str | None) -> GoError | None:
        return self._transport.conf.release.errors.kerror(code, message) if code != 0 else None

    def _timeout_ms(self, bounded: Bounded, default_s: float) -> int:
        """What the broker is told: half of what the caller has."""
        timeout_s = 0.0 if self._timeout is None else self._timeout.seconds
        if bounded.ctx.deadline_at is not None:
            timeout_s = min(bounded.ctx.deadline_at - asyncio.get_running_loop().time(), timeout_s)
        return int((timeout_s / 2 if timeout_s > 0 else default_s) * 1000)
