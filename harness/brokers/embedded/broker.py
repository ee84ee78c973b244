"""A Kafka broker in asyncio: the same code on real sockets and on simulated ones.

    logs = MemoryLogs()                                   # one object for all brokers of a simulated cluster
    controller = Controller(plan.cluster, world.advertised_address)
    broker = EmbeddedBroker(1, controller.state, logs)
    await broker.start("127.0.1.1", 9092)                 # on the host where it is to listen
    controller.attach(broker.apply)
    ...
    await broker.stop()

Time comes from the running loop alone. Where brokers are processes of their own, `process.run_broker` does all that.
"""

import asyncio
import logging
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from client.security.tls import TlsError
from client.wire.apis.api_versions import API_VERSIONS
from client.wire.apis.sasl_authenticate import SASL_AUTHENTICATE
from client.wire.exceptions import WireError
from client.wire.frames import FrameError, FrameReader, frame
from client.wire.messages import Request, decode_request, decode_request_header, encode_response
from harness.brokers.embedded.apis.api_versions import unsupported_version
from harness.brokers.embedded.channel import Channel, PlainChannel, TlsChannel
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.handlers import Handler, handlers, spoken_versions
from harness.brokers.embedded.intercepts import Arrival, InstalledIntercept, Intercepts, code_of
from harness.brokers.embedded.log import PartitionLogs
from harness.brokers.embedded.node import CreateTopic, Disconnect, Node
from harness.brokers.embedded.sasl import Authentication, Refused
from harness.brokers.security import PLAINTEXT, BrokerSecurity
from harness.levers import (
    TLS_HANDSHAKE,
    DamagedFrame,
    DelayedResponse,
    ErrorAnswer,
    FlawedCertificate,
    FrameDamage,
    HangUp,
    HeldBack,
    InterceptResponse,
    LateHandling,
    Silence,
    WrongCorrelation,
    waiting_for,
)

_log = logging.getLogger(__name__)

_READ_BYTES = 65536


class _Ruined(Exception):
    """What is sent in place of a response, as the only argument; nothing comes after it."""


class _Silenced(Exception):
    """A request is never answered, and so nothing behind it on its connection can be."""


class EmbeddedBroker:
    """One broker: a listening socket, connections served each in its own order, and a Node that answers."""

    def __init__(
        self,
        broker_id: int,
        state: ClusterState,
        logs: PartitionLogs,
        intercepts: Intercepts | None = None,
        create_topic: CreateTopic | None = None,
        security: BrokerSecurity = PLAINTEXT,
    ) -> None:
        """`intercepts`: what is done to requests beside answering them; None: nothing ever is. `create_topic` is the
        controller's; None: this broker's clients wait for their topics in vain."""
        self._security = security
        self._intercepts = Intercepts() if intercepts is None else intercepts
        self._node = Node(broker_id, state, logs, create_topic, partial(_count_waiting, self._intercepts))
        self._server: asyncio.Server | None = None
        self._stopped = False
        self._serving: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    @property
    def broker_id(self) -> int:
        return self._node.broker_id

    @property
    def state(self) -> ClusterState:
        """The cluster as this broker knows it."""
        return self._node.state

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen, once; returns the address, with the port that was chosen where 0 was asked for. Raises OSError."""
        self._server = await asyncio.start_server(self._accept, host, port)
        bound = self._server.sockets[0].getsockname()
        return str(bound[0]), int(bound[1])

    def apply(self, state: ClusterState) -> None:
        """Take another epoch of the cluster's state; one that is not newer is passed over."""
        self._node.apply(state)

    async def stop(self) -> None:
        """Close the socket and drop every connection, unfinished requests too."""
        self._stopped = True
        if self._server is not None:
            self._server.close()
            self._server = None
        serving, self._serving = self._serving, {}
        for writer, task in serving.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*serving.values(), return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._stopped:
            writer.transport.abort()  # the loop had accepted it before the stop, and tells it after
            return
        # Drained means that the kernel has it: a response is gone before the next request is looked at.
        writer.transport.set_write_buffer_limits(high=0)
        self._serving[writer] = asyncio.get_running_loop().create_task(self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        channel: Channel = PlainChannel(reader, writer)
        try:
            channel = await self._secured(channel)
            await self._converse(channel)
        except _Silenced:
            while await reader.read(_READ_BYTES):
                pass
        except _Ruined as ruined:
            with suppress(OSError):
                await channel.send(ruined.args[0])
            writer.close()
            return
        except (WireError, Disconnect, TlsError) as wrong:
            _log.warning("broker %d closes the connection from %s: %s", self.broker_id, peer, wrong)
        except OSError as gone:
            _log.info("broker %d lost the connection from %s: %s", self.broker_id, peer, gone)
        finally:
            writer.transport.abort()
            self._serving.pop(writer, None)

    async def _secured(self, plain: Channel) -> Channel:
        """The channel inside TLS, once the handshake is made; the plain one where clients speak plain text."""
        certificates = self._security.certificates
        if certificates is None:
            return plain
        context = certificates.ordinary
        hello = await plain.read()
        found = self._intercepts.find_match(Arrival(TLS_HANDSHAKE)) if hello else None
        match found.answer if found else None:
            case Silence():
                raise _Silenced
            case HangUp():
                raise Disconnect("a fault ends the TLS handshake")
            case FlawedCertificate(flaw=flaw):
                context = certificates.flawed[flaw]
        channel = TlsChannel(plain, context)
        await channel.handshake(hello)
        return channel

    async def _converse(self, channel: Channel) -> None:
        """Requests one after the other until the client has sent its last: half-closed, it still gets its answers."""
        frames = FrameReader()
        authentication = Authentication(self._security)
        while data := await channel.read():
            try:
                payloads: Sequence[bytes] = frames.feed(data)
            except FrameError as wrong:
                await self._respond(wrong.frames, channel, authentication)
                raise
            await self._respond(payloads, channel, authentication)
        frames.eof()

    async def _respond(self, payloads: Sequence[bytes], channel: Channel, authentication: Authentication) -> None:
        for payload in payloads:
            if authentication.takes_messages:
                await channel.send(self._bare_answer(payload, authentication))
                continue
            response = await self.answer(payload, authentication)
            if response is not None:
                await channel.send(response)
            if authentication.ended:
                raise Disconnect("the client has not authenticated")

    def _bare_answer(self, message: bytes, authentication: Authentication) -> bytes:
        """To a message of a mechanism outside of any request. Who is refused is answered nothing."""
        found = self._intercepts.find_match(Arrival(SASL_AUTHENTICATE.module))
        match found.answer if found else None:
            case Silence():
                raise _Silenced
            case ErrorAnswer(error=error):
                raise Disconnect(f"a fault refuses the client: {error}")
        try:
            return frame(authentication.step(message))
        except Refused as refused:
            raise Disconnect(str(refused)) from refused

    async def answer(self, payload: bytes, authentication: Authentication | None = None) -> bytes | None:
        """The framed response to a request; None where none is due. Raises WireError, Disconnect.

        `authentication` is the connection's, None: this is its first request.
        """
        authentication = authentication or Authentication(self._security)
        header = decode_request_header(payload)
        handler = handlers().get(header.api_key)
        if handler is None:
            raise Disconnect(f"API {header.api_key} is not supported (client {header.client_id})")
        authentication.check_allowed(header.api_key)
        asks_versions = header.api_key == API_VERSIONS.key
        versions = spoken_versions(self._node.api_versions).get(header.api_key, range(0))
        if header.api_version not in versions:
            if header.api_version in handler.versions:
                self._intercepts.count_refused(Arrival(handler.api.module, header.client_id, capped=True))
            if asks_versions and versions:
                body = unsupported_version(self._node)
                return encode_response(body, version=0, correlation_id=header.correlation_id)
            raise Disconnect(f"{handler.api.name} v{header.api_version} is not supported (client {header.client_id})")
        request = decode_request(payload)
        arrival = Arrival.of(request, capped=asks_versions and self._node.api_versions is not None)
        late: list[InstalledIntercept] = []
        intercepted = self._intercepts.find_match(arrival)
        while intercepted is not None and isinstance(intercepted.answer, HeldBack | LateHandling | DelayedResponse):
            if isinstance(intercepted.answer, DelayedResponse):
                late.append(intercepted)
            else:
                await _released_or_over(intercepted)
            intercepted = self._intercepts.find_match(arrival, behind=intercepted.number)
        answering = authentication if handler.authenticates else self._node
        body = await self._response_body(
            request, handler, None if intercepted is None else intercepted.answer, answering
        )
        authentication.ended |= (
            handler.authenticates and intercepted is not None and isinstance(intercepted.answer, ErrorAnswer)
        )
        for delaying in late:
            await _released_or_over(delaying)
        if body is None:
            return None
        response = encode_response(body, version=request.version, correlation_id=request.correlation_id)
        return response if intercepted is None else _damaged(response, intercepted.answer)

    async def _response_body(
        self,
        request: Request,
        handler: Handler,
        answer: InterceptResponse | None,
        answering: Node | Authentication,
    ) -> Any:
        """The body of the response to a request that is intercepted, or is not. Raises _Silenced, Disconnect."""
        match answer:
            case Silence():
                raise _Silenced
            case ErrorAnswer():
                return handler.error_response(self._node, request, code_of(answer))
            case _:
                return await handler.answer(answering, request)


def _count_waiting(intercepts: Intercepts, replica: int) -> None:
    """No method: a node that knew its broker would keep both in memory until a search for cycles."""
    intercepts.find_match(Arrival(waiting_for(replica)))


async def _released_or_over(intercepted: InstalledIntercept) -> None:
    """Wait as long as an intercept holds a request or a response."""
    seconds = getattr(intercepted.answer, "seconds", None)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await intercepted.released.wait()


_SIZE = struct.Struct(">i")
_CORRELATION = struct.Struct(">i")


def _damaged(response: bytes, answer: InterceptResponse) -> bytes:
    """A framed response as an intercept sends it. Raises _Ruined with what is sent before the connection closes."""
    body = response[_SIZE.size :]
    match answer:
        case WrongCorrelation():
            (number,) = _CORRELATION.unpack_from(body)
            return response[: _SIZE.size] + _CORRELATION.pack(number ^ 0x40000000) + body[_CORRELATION.size :]
        case DamagedFrame(damage=damage):
            raise _Ruined(_DAMAGE[damage](body))
    return response


_DAMAGE: dict[FrameDamage, Callable[[bytes], bytes]] = {
    "negative_size": lambda body: _SIZE.pack(-1) + body,
    "huge_size": lambda body: _SIZE.pack(2**31 - 1) + body,
    "zero_size": lambda body: _SIZE.pack(0),
    "cut": lambda body: _SIZE.pack(len(body)) + body[: len(body) // 2],
    "garbage": lambda body: _SIZE.pack(len(body)) + bytes(byte ^ 0xA5 for byte in body),
}
