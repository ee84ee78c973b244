"""A connection as a program uses it that has a Dialer: a request out, its answer in, with deadlines that it sets.

Source: segmentio/kafka-go v0.4.8 and v0.4.50 conn.go (ReadPartitions, writeCompressedMessages, negotiateVersion, do).

A deadline that nobody has set is none: a broker that never answers is waited for until the connection is closed.
"""

import asyncio
import struct
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from client.limit import Limit
from client.net.address import join_host_port
from client.net.connection import Connection
from client.net.errors import NetError
from client.profiles.kafka_go.errors import GoError, from_conn, no_matching_version, no_progress, short_read
from client.profiles.kafka_go.releases import Release
from client.wire.api import Api, api_for_body
from client.wire.apis.api_versions import ApiVersionsRequest, ApiVersionsResponse
from client.wire.apis.metadata import METADATA, MetadataRequest, MetadataRequestTopic, MetadataResponse
from client.wire.apis.produce import PRODUCE, PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from client.wire.apis.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest, SaslHandshakeResponse
from client.wire.exceptions import MessageError
from client.wire.messages import decode_response, encode_request
from client.wire.records import Record, encode_batch

_SIZE = struct.Struct(">i")
_METADATA_VERSIONS, _OLD_METADATA_VERSION = (1, 6), 1
_PRODUCE_VERSIONS = (2, 3, 7)
_HANDSHAKE_VERSIONS = (1,)
_REQUIRED_ACKS = -1
_RTT_S = 1.0
_LONGEST_MS = 2**31 - 1


class Broker(NamedTuple):
    """Of a broker that the answer does not name all is zero, as a Go struct: its address is `:0`."""

    broker_id: int = 0
    host: str = ""
    port: int = 0

    @property
    def address(self) -> str:
        return join_host_port(self.host, self.port)


class Partition(NamedTuple):
    """What a metadata answer says of one partition."""

    topic: str
    partition: int
    leader: Broker


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnConfig:
    """`topic` and `partition` are what messages go to, "" and 0 for a connection to no partition."""

    client_id: str
    transactional_id: str | None
    topic: str = ""
    partition: int = 0
    broker: int = -1


class Conn:
    """One task asks at a time. Methods raise GoError; one that is no broker's answer has closed the connection."""

    def __init__(self, connection: Connection, conf: ConnConfig, release: Release) -> None:
        self.conf = conf
        self._connection = connection
        self._release = release
        self._correlation_id = 0
        self._highest: dict[int, int] | None = None
        self._write_deadline_at: float | None = None

    @property
    def remote_address(self) -> str:
        return self._connection.address

    def set_write_deadline(self, at_s: float | None) -> None:
        """SetWriteDeadline: for messages and for what has to be asked before them. A moment of the loop's clock."""
        self._write_deadline_at = at_s

    def close(self, error: str | None = None) -> None:
        """Close at once; a request that waits fails. `error` is why, None for an orderly close."""
        self._connection.close(error)

    async def read_partitions(self, topic: str) -> tuple[Partition, ...]:
        """The partitions of a topic. The error of a topic is raised, that of a partition is not looked at."""
        version = _OLD_METADATA_VERSION
        if self._release.negotiates_metadata:
            version = await self._negotiate_version(METADATA, _METADATA_VERSIONS)
        request = MetadataRequest(topics=(MetadataRequestTopic(name=topic),))
        answer: MetadataResponse = await self._do(request, version, None)
        brokers = {b.node_id: Broker(b.node_id, b.host, b.port) for b in answer.brokers}
        found: list[Partition] = []
        for about in answer.topics:
            if about.error_code != 0 and self.conf.topic in ("", about.name):
                raise self._release.errors.kerror(about.error_code)
            found += (
                Partition(about.name or "", one.partition_index, brokers.get(one.leader_id, Broker()))
                for one in about.partitions
            )
        return tuple(found)

    async def write_message(self, key: bytes | None, value: bytes) -> tuple[int, int]:
        """WriteMessages with one message: its partition and offset."""
        version = await self._negotiate_version(PRODUCE, _PRODUCE_VERSIONS)
        now = asyncio.get_running_loop().time()
        records = encode_batch([Record(key=key, value=value)], base_timestamp_ms=int(now * 1000))
        data = PartitionProduceData(index=self.conf.partition, records=records)
        request = ProduceRequest(
            transactional_id=self.conf.transactional_id,
            acks=_REQUIRED_ACKS,
            timeout_ms=self._timeout_ms(now),
            topic_data=(TopicProduceData(name=self.conf.topic, partition_data=(data,)),),
        )
        answer: ProduceResponse = await self._do(request, version, self._write_deadline_at)
        about = answer.responses[0].partition_responses[0]
        if about.error_code != 0:
            raise self._release.errors.kerror(about.error_code)
        return about.index, about.base_offset

    async def sasl_handshake(self, mechanism: str) -> None:
        """Ask for a mechanism. Left out: brokers that know version 0 alone, before Kafka 1.0."""
        version = await self._negotiate_version(SASL_HANDSHAKE, _HANDSHAKE_VERSIONS)
        answer: SaslHandshakeResponse = await self._do(
            SaslHandshakeRequest(mechanism=mechanism), version, self._write_deadline_at
        )
        if answer.error_code != 0:
            raise self._release.errors.kerror(answer.error_code)

    async def sasl_authenticate(self, message: bytes) -> bytes:
        """Send one message of the mechanism; the broker's next."""
        request = SaslAuthenticateRequest(auth_bytes=message)
        answer: SaslAuthenticateResponse = await self._do(request, 0, self._write_deadline_at)
        if answer.error_code != 0:
            raise self._release.errors.kerror(answer.error_code)
        return answer.auth_bytes

    def _timeout_ms(self, now: float) -> int:
        """What the broker is told: what is left, less a round trip (adjustDeadlineForRTT, deadlineToTimeout)."""
        if self._write_deadline_at is None:
            return _LONGEST_MS
        left_s = self._write_deadline_at - now
        return int((left_s - (left_s / 4 if left_s < _RTT_S else _RTT_S)) * 1000)

    async def _negotiate_version(self, api: Api[Any, Any], versions: tuple[int, ...]) -> int:
        """The highest of these versions that the broker knows. It is asked once."""
        if self._highest is None:
            answer: ApiVersionsResponse = await self._do(ApiVersionsRequest(), 0, self._write_deadline_at)
            if answer.error_code != 0:
                raise self._release.errors.kerror(answer.error_code)
            self._highest = {row.api_key: row.max_version for row in answer.api_keys}
        highest = self._highest.get(api.key, 0)
        known = [version for version in versions if version <= highest]
        if not known:
            raise no_matching_version(api.key)
        return known[-1]

    async def _do(self, request: Hashable, version: int, deadline_at: float | None) -> Any:
        self._correlation_id += 1
        api, correlation_id = api_for_body(type(request)), self._correlation_id
        encoded = encode_request(request, version=version, correlation_id=correlation_id, client_id=self.conf.client_id)
        try:
            try:
                await self._connection.send(
                    encoded, api=api.name, correlation_id=correlation_id, limit=_left(deadline_at),
                    expects_response=True,
                )  # fmt: skip
                payload = await self._read(f"{api.name} response", deadline_at)
            except NetError as error:
                raise from_conn(error) from error
            try:
                found, answer = decode_response(api, version, payload)
            except MessageError as wrong:
                raise short_read() from wrong
            if found != correlation_id:
                raise no_progress()
            return answer
        except GoError as error:
            self.close(error.text)
            raise

    async def _read(self, purpose: str, deadline_at: float | None) -> bytes:
        (size,) = _SIZE.unpack(await self._connection.read_full(_SIZE.size, limit=_left(deadline_at), purpose=purpose))
        payload = await self._connection.read_full(max(size, 0), limit=_left(deadline_at), purpose=purpose)
        self._connection.on_response(_SIZE.size + size)
        return payload


def _left(deadline_at: float | None) -> Limit:
    if deadline_at is None:
        return Limit()
    return Limit(max(deadline_at - asyncio.get_running_loop().time(), 0.0))
