"""One broker and its connection. Source: Shopify/sarama v1.27.2 broker.go.

The lock is held while a dial is under way, so whoever sends meanwhile waits for the dial, and gets its error.
"""

import asyncio
import struct
from functools import cache
from typing import Any, NamedTuple, TypeVar

from client.errors import ClientError
from client.golang import Channel
from client.net.connection import Connection
from client.net.dialer import Dialer
from client.net.errors import NetError
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import PacketDecodingError, PacketEncodingError, from_net, sentinel
from client.surroundings import Surroundings
from client.wire.api import Api
from client.wire.apis.metadata import METADATA, MetadataRequest, MetadataResponse
from client.wire.apis.produce import (
    PRODUCE,
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from client.wire.malformed import MessageError
from client.wire.messages import decode_response, encode_request, encode_response
from client.wire.records import Record, encode_batch

R = TypeVar("R")

PRODUCE_VERSION = 3
"""From Kafka 0.11 on; 7 would need zstd."""

_RESPONSE_HEADER = struct.Struct(">ii")
_MAX_REQUEST_BYTES = 100 * 1024 * 1024
_MAX_RESPONSE_BYTES = 100 * 1024 * 1024


class _Promise(NamedTuple):
    """A response to come. Upstream has a channel for packets and one for errors; nobody can tell them from one."""

    correlation_id: int
    api: str
    answer: "Channel[bytes | ClientError]"


class Broker:
    """`id` is -1 for a bootstrap address ("seed"). Every method may be called by several tasks at once."""

    def __init__(
        self, surroundings: Surroundings, dialer: Dialer, conf: Config, host: str, port: int, broker_id: int
    ) -> None:
        self.id = broker_id
        self.host = host
        self.port = port
        self._surroundings = surroundings
        self._dialer = dialer
        self._conf = conf
        self._lock = asyncio.Lock()
        self._opened = False
        self._correlation_id = 0
        self._conn: Connection | None = None
        self._conn_err: ClientError | None = None
        self._responses: Channel[_Promise] = Channel()
        self._done: Channel[None] = Channel()
        self._died_of: ClientError | None = None

    @property
    def addr(self) -> tuple[str, int]:
        return self.host, self.port

    async def open(self) -> None:
        """Start to connect, without waiting for it. Does nothing while connected or connecting (ErrAlreadyConnected,
        which every caller upstream ignores)."""
        if self._opened:
            return
        self._opened = True
        await self._lock.acquire()
        self._surroundings.tasks.go(self._dial(), f"broker/{self.id}/dial")

    async def _dial(self) -> None:
        """Holds the lock that `open` took."""
        try:
            self._conn_err = None
            self._conn = await self._dialer.dial(self.host, self.port, broker=self.id, limit=self._conf.dial)
        except NetError as error:
            self._conn_err = from_net(error)
            self._opened = False
        else:
            self._died_of = None
            self._done = Channel()
            self._responses = Channel(self._conf.max_open_requests - 1)
            receiver = self._response_receiver(self._conn, self._responses, self._done)
            self._surroundings.tasks.go(receiver, f"broker/{self.id}/responseReceiver")
        finally:
            self._lock.release()

    async def connected(self) -> bool:
        """Whether there is a connection, once a dial that is under way has ended."""
        async with self._lock:
            return self._conn is not None

    async def close(self) -> None:
        """Close once every request that was sent is answered or has failed. Does nothing where there is no connection
        (ErrNotConnected, which every caller upstream ignores)."""
        async with self._lock:
            if self._conn is None:
                return
            self._responses.close()
            await self._done.receive()
            self._conn.close(None if self._died_of is None else self._died_of.text)
            self._conn = None
            self._conn_err = None
            self._opened = False

    async def get_metadata(self, request: MetadataRequest, version: int) -> MetadataResponse:
        return await self._send_and_receive(METADATA, request, version)

    async def produce(self, request: ProduceRequest, version: int) -> ProduceResponse | None:
        """None where the request asks for no response."""
        if request.acks == 0:
            await self._send(PRODUCE, request, version, promise_response=False)
            return None
        return await self._send_and_receive(PRODUCE, request, version)

    async def _send(self, api: Api[Any, Any], body: object, version: int, *, promise_response: bool) -> _Promise | None:
        async with self._lock:
            if self._conn is None:
                raise self._conn_err or sentinel("ErrNotConnected")
            correlation_id = self._correlation_id
            try:
                buf = encode_request(
                    body, version=version, correlation_id=correlation_id, client_id=self._conf.client_id
                )
            except MessageError as wrong:
                raise PacketEncodingError(str(wrong)) from wrong
            if len(buf) > _MAX_REQUEST_BYTES:
                raise PacketEncodingError(f"invalid request size ({len(buf)})")
            try:
                await self._conn.send(
                    buf,
                    api=api.name,
                    correlation_id=correlation_id,
                    limit=self._conf.write,
                    answered=promise_response,
                )
            except NetError as error:
                raise from_net(error) from error
            self._correlation_id = (correlation_id + 1) & 0x7FFFFFFF
            if not promise_response:
                return None
            promise = _Promise(correlation_id, api.name, Channel())
            await self._responses.send(promise)
            return promise

    async def _send_and_receive(self, api: Api[Any, R], body: object, version: int) -> R:
        promise = await self._send(api, body, version, promise_response=True)
        assert promise is not None
        answer, _ = await promise.answer.receive()
        if isinstance(answer, ClientError):
            raise answer
        assert answer is not None
        try:
            return decode_response(api, version, answer)[1]
        except MessageError as wrong:
            raise PacketDecodingError(str(wrong)) from wrong

    async def _response_receiver(self, conn: Connection, responses: Channel[_Promise], done: Channel[None]) -> None:
        """Reads answers in the order of their requests; after an error every later request gets that error."""
        async for promise in responses:
            if self._died_of is None:
                try:
                    await promise.answer.send(await self._read_response(conn, promise))
                    continue
                except ClientError as error:
                    self._died_of = error
            await promise.answer.send(self._died_of)
        done.close()

    async def _read_response(self, conn: Connection, promise: _Promise) -> bytes:
        """The response from its correlation id on. Header and rest have a ReadTimeout each."""
        purpose = f"{promise.api} response"
        try:
            header = await conn.read_full(_RESPONSE_HEADER.size, limit=self._conf.read, purpose=purpose)
            length, correlation_id = _RESPONSE_HEADER.unpack(header)
            if length <= 4 or length > _MAX_RESPONSE_BYTES:
                raise PacketDecodingError(f"message of length {length} too large or too small")
            if correlation_id != promise.correlation_id:
                raise PacketDecodingError(
                    f"correlation ID didn't match, wanted {promise.correlation_id}, got {correlation_id}"
                )
            rest = await conn.read_full(length - 4, limit=self._conf.read, purpose=purpose)
        except NetError as error:
            raise from_net(error) from error
        conn.received(length + 4)
        return header[4:] + rest


@cache
def prepare() -> None:
    """Build the codecs of every message that the profile sends and reads: the first use of each takes milliseconds."""
    batch = encode_batch([Record(value=b"")], base_timestamp_ms=0)
    data = (TopicProduceData(name="", partition_data=(PartitionProduceData(index=0, records=batch),)),)
    produce = ProduceRequest(acks=1, timeout_ms=0, topic_data=data)
    messages: tuple[tuple[Api[Any, Any], int, object, object], ...] = (
        (METADATA, 1, MetadataRequest(), MetadataResponse()),
        (METADATA, 5, MetadataRequest(), MetadataResponse()),
        (PRODUCE, PRODUCE_VERSION, produce, ProduceResponse()),
    )
    for api, version, request, response in messages:
        encode_request(request, version=version, correlation_id=0, client_id="")
        decode_response(api, version, encode_response(response, version=version, correlation_id=0)[4:])
