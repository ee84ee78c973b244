"""One broker and its connection. Source: Shopify/sarama v1.27.2 broker.go, IBM/sarama v1.60.1 broker.go.

The lock is held during a dial: tasks that send meanwhile wait for the dial and get its error. In 1.60.1
`get_metadata` and `init_producer_id` hold it until their answer is there as well.
"""

import struct
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from client.errors import ClientError, without_traceback
from client.golang import Channel, Dialer, Mutex, TlsRecords
from client.net.connection import Connection
from client.net.errors import NetError
from client.profiles.sarama.api_versions import ApiRanges, ApiVersionsHandshake, restrict_api_version
from client.profiles.sarama.config import Config, SaslConfig
from client.profiles.sarama.errors import InsufficientData, NetworkError, PacketDecodingError, PacketEncodingError
from client.profiles.sarama.sasl import DirectAuthentication, auth_bytes, check_handshake, exchange
from client.profiles.sarama.throttle import Throttle
from client.profiles.sarama.transport import write
from client.runtime import ClientRuntime
from client.security.tls import client_context
from client.wire.api import Api
from client.wire.apis.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest, InitProducerIdResponse
from client.wire.apis.metadata import METADATA, MetadataRequest, MetadataResponse
from client.wire.apis.produce import PRODUCE, ProduceRequest, ProduceResponse
from client.wire.apis.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from client.wire.exceptions import MessageError
from client.wire.messages import decode_response, encode_request, has_tagged_header

R = TypeVar("R")
Handler = Callable[[ProduceResponse | ClientError], Awaitable[None]]
"""Called with the result of a request that was sent without waiting for it."""

_Packet = bytes | ClientError
_PacketHandler = Callable[[_Packet], Awaitable[None]]

_RESPONSE_HEADER = struct.Struct(">ii")
_MAX_REQUEST_BYTES = 100 * 1024 * 1024
_MAX_RESPONSE_BYTES = 100 * 1024 * 1024


class _ResponsePromise(NamedTuple):
    """A response to come. Upstream has a channel for packets and one for errors; one channel behaves alike."""

    correlation_id: int
    api: Api[Any, Any]
    version: int
    handler: _PacketHandler


class Broker:
    """`id` is -1 for a bootstrap address ("seed"). Every method may be called by several tasks at once."""

    def __init__(
        self, runtime: ClientRuntime, dialer: Dialer, conf: Config, host: str, port: int, broker_id: int
    ) -> None:
        self.id = broker_id
        self.host = host
        self.port = port
        self._runtime = runtime
        self._dialer = dialer
        self._conf = conf
        self._lock = Mutex()
        self._opened = False
        self._correlation_id = 0
        self._conn: Connection | None = None
        self._conn_err: ClientError | None = None
        self._api_ranges: ApiRanges = {}
        self._responses: Channel[_ResponsePromise] | None = None
        self._done: Channel[None] = Channel()
        self._receiver_error: ClientError | None = None
        self._throttle = Throttle(runtime.tracer, broker_id, enabled=conf.release.honors_throttling)

    @property
    def addr(self) -> tuple[str, int]:
        return self.host, self.port

    async def open(self) -> None:
        """Start to connect, without waiting for it. Does nothing while connected or connecting (ErrAlreadyConnected,
        which every caller upstream ignores)."""
        if self._opened:
            return
        self._opened = True
        await self._lock.lock()
        self._runtime.tasks.go(self._connect(), f"broker/{self.id}/open")

    async def _connect(self) -> None:
        """Holds the lock that `open` took."""
        try:
            self._conn_err = None
            self._receiver_error = None
            self._conn = await self._dialer.dial(self.host, self.port, broker=self.id, limit=self._conf.dial)
            if self._conf.tls:
                self._conn.use_tls(
                    client_context(self._runtime.ca_pem), server_name=self.host, records=TlsRecords().cut
                )
            if self._conf.api_versions_version is not None:
                await self._negotiate_api_versions(self._conn, self._conf.api_versions_version)
            await self._start_conversation(self._conn)
        except NetError as error:
            self._conn_err = NetworkError(error)
            self._opened = False
        except ClientError as error:
            self._conn_err = self._receiver_error = without_traceback(error)
            await self._close_locked()
        finally:
            self._lock.unlock()

    async def _start_conversation(self, conn: Connection) -> None:
        """Authenticate where SASL is enabled, and read responses from then on. Raises ClientError."""
        sasl = self._conf.sasl
        through_receiver = sasl is not None and sasl.version != 0 and self._conf.release.authenticates_through_receiver
        if sasl is not None and not through_receiver:
            direct = DirectAuthentication(conn, self._conf, self._correlation_id)
            try:
                await direct.authenticate()
            finally:
                self._correlation_id = direct.correlation_id
        self._done = Channel()
        self._responses = Channel(self._conf.max_open_requests - 1)
        receiver = self._response_receiver(conn, self._responses, self._done)
        self._runtime.tasks.go(receiver, f"broker/{self.id}/responseReceiver")
        if sasl is not None and through_receiver:
            await self._authenticate_through_receiver(sasl)

    async def _authenticate_through_receiver(self, sasl: SaslConfig) -> None:
        """authenticateViaSASLv1 from 1.60.1 on. Raises ClientError."""
        if sasl.handshake:
            named = SaslHandshakeRequest(mechanism=sasl.mechanism)
            check_handshake(await self._ask_locked(SASL_HANDSHAKE, named, sasl.version), self._conf)

        async def send(message: bytes) -> bytes:
            request = SaslAuthenticateRequest(auth_bytes=message)
            version = self._conf.sasl_authenticate_version
            return auth_bytes(await self._ask_locked(SASL_AUTHENTICATE, request, version), self._conf)

        await exchange(sasl, send)

    async def _negotiate_api_versions(self, conn: Connection, version: int) -> None:
        """Raises NetworkError where that broke the connection. Where no answer comes, versions stay unrestricted."""
        handshake = ApiVersionsHandshake(conn, self._conf, self._correlation_id)
        try:
            found = await handshake.negotiate(version)
        finally:
            self._correlation_id = handshake.correlation_id
        if found is not None:
            self._api_ranges = found

    async def connected(self) -> bool:
        """Whether there is a connection, once a dial that is under way has ended."""
        async with self._lock:
            return self._conn is not None

    async def response_size(self) -> int:
        """Requests whose responses are not being read yet. Waits for the lock."""
        async with self._lock:
            return 0 if self._responses is None else len(self._responses)

    def socket_is_broken(self) -> bool:
        """Whether the kernel has an error for the connection. False while the lock is held (getSockError)."""
        return not self._lock.locked() and self._conn is not None and self._conn.has_pending_error

    async def close(self) -> None:
        """Returns once every request that was sent is answered or has failed. Does nothing where there is no
        connection (ErrNotConnected, which every caller upstream ignores)."""
        async with self._lock:
            if self._conn is not None or self._conf.release.close_aborts_reads:
                self._conn_err = None
            await self._close_locked()

    async def _close_locked(self) -> None:
        conn, responses = self._conn, self._responses
        if conn is None:
            return
        if responses is not None:
            responses.close()
        if self._conf.release.close_aborts_reads:
            conn.close(self._why_closed())
        if responses is not None:
            await self._done.receive()
        conn.close(self._why_closed())  # the second time it does nothing
        self._conn = None
        self._responses = None
        self._opened = False

    def _why_closed(self) -> str | None:
        return None if self._receiver_error is None else self._receiver_error.text

    async def get_metadata(self, request: MetadataRequest) -> MetadataResponse:
        return await self._send_and_receive(METADATA, request, self._conf.metadata_version)

    async def init_producer_id(self, request: InitProducerIdRequest) -> InitProducerIdResponse:
        return await self._send_and_receive(INIT_PRODUCER_ID, request, self._conf.init_producer_id_version)

    async def produce(self, request: ProduceRequest) -> ProduceResponse | None:
        """None where the request asks for no response."""
        if request.acks == 0:
            async with self._lock:
                await self._send(PRODUCE, request, self._restricted(PRODUCE, self._conf.produce_version), None)
            return None
        return await self._send_and_receive(PRODUCE, request, self._conf.produce_version)

    async def async_produce(self, request: ProduceRequest, handler: Handler) -> None:
        """Returns when the request is sent. `handler` is called later, unless the request asks for no response; it must
        not close this broker. Raises without calling it."""

        async def handle(packet: _Packet) -> None:
            try:
                response = _decoded(PRODUCE, version, packet)
            except ClientError as error:
                await handler(error)
                return
            await self._throttle.record_throttle_time(response.throttle_time_ms)
            await handler(response)

        async with self._lock:
            version = self._restricted(PRODUCE, self._conf.produce_version)
            await self._send(PRODUCE, request, version, None if request.acks == 0 else handle)

    def _restricted(self, api: Api[Any, Any], version: int) -> int:
        return restrict_api_version(version, self._api_ranges.get(api.key))

    async def _send(self, api: Api[Any, Any], body: object, version: int, handler: _PacketHandler | None) -> None:
        """The caller holds the lock. `handler` is called with the response; None where no response will come."""
        if self._conn is None:
            raise self._conn_err or self._conf.errors.sentinel("ErrNotConnected")
        correlation_id = self._correlation_id
        try:
            buf = encode_request(body, version=version, correlation_id=correlation_id, client_id=self._conf.client_id)
        except MessageError as wrong:
            raise PacketEncodingError(str(wrong)) from wrong
        if len(buf) > _MAX_REQUEST_BYTES:
            raise PacketEncodingError(f"invalid request size ({len(buf)})")
        await self._throttle.wait()
        try:
            await write(
                self._conn,
                self._conf,
                buf,
                api=api.name,
                correlation_id=correlation_id,
                expects_response=handler is not None,
            )
        except NetError as error:
            raise NetworkError(error) from error
        self._correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        if handler is not None:
            assert self._responses is not None
            await self._responses.send(_ResponsePromise(correlation_id, api, version, handler))

    async def _send_and_receive(self, api: Api[Any, R], body: object, version: int) -> R:
        if self._conf.release.holds_lock_until_response:
            return await self._send_and_receive_locked(api, body, version)
        packets: Channel[_Packet] = Channel()
        async with self._lock:
            await self._send(api, body, version, packets.send)
        packet, _ = await packets.receive()
        return _decoded(api, version, packet)

    async def _send_and_receive_locked(self, api: Api[Any, R], body: object, version: int) -> R:
        async with self._lock:
            try:
                response = await self._ask_locked(api, body, version)
            except ClientError as error:
                await self._maybe_close_locked(error)
                raise
            await self._throttle.record_throttle_time(getattr(response, "throttle_time_ms", 0))
            return response

    async def _ask_locked(self, api: Api[Any, R], body: object, version: int) -> R:
        """sendInternal and handleResponsePromise. The caller holds the lock."""
        packets: Channel[_Packet] = Channel()
        version = self._restricted(api, version)
        await self._send(api, body, version, packets.send)
        packet, _ = await packets.receive()
        return _decoded(api, version, packet)

    async def _maybe_close_locked(self, error: ClientError) -> None:
        """A transport error ends the connection, but a time-out does not, and a refused certificate."""
        if not self._conf.release.closes_broken_connections:
            return
        if isinstance(error, NetworkError) and error.closes_connection:
            self._conn_err = error
            await self._close_locked()

    async def _response_receiver(
        self, conn: Connection, responses: Channel[_ResponsePromise], done: Channel[None]
    ) -> None:
        """Reads answers in the order of their requests; after an error every later request gets that error."""
        async for promise in responses:
            if self._receiver_error is None:
                try:
                    packet = await self._read_response(conn, promise)
                except ClientError as error:
                    self._receiver_error = without_traceback(error)
                else:
                    await promise.handler(packet)
                    continue
            await promise.handler(self._receiver_error)
        done.close()

    async def _read_response(self, conn: Connection, promise: _ResponsePromise) -> bytes:
        """The response from its correlation id on. Header and rest have a ReadTimeout each."""
        purpose = f"{promise.api.name} response"
        header_bytes = _RESPONSE_HEADER.size + has_tagged_header(promise.api, promise.version)
        try:
            header = await conn.read_full(header_bytes, limit=self._conf.read, purpose=purpose)
            length, correlation_id = _RESPONSE_HEADER.unpack_from(header)
            if length <= 4 or length > _MAX_RESPONSE_BYTES:
                raise PacketDecodingError(f"message of length {length} too large or too small")
            if any(header[_RESPONSE_HEADER.size :]):  # tagged fields, where the header as it was read is over
                raise InsufficientData
            if correlation_id != promise.correlation_id:
                raise PacketDecodingError(
                    f"correlation ID didn't match, wanted {promise.correlation_id}, got {correlation_id}"
                )
            rest = await conn.read_full(length + 4 - header_bytes, limit=self._conf.read, purpose=purpose)
        except NetError as error:
            raise NetworkError(error) from error
        conn.on_response(length + 4)
        return header[4:] + rest


def _decoded(api: Api[Any, R], version: int, packet: _Packet | None) -> R:
    assert packet is not None, "a promise whose channel was closed"
    if isinstance(packet, ClientError):
        raise packet
    try:
        return decode_response(api, version, packet)[1]
    except MessageError as wrong:
        raise PacketDecodingError(str(wrong)) from wrong
