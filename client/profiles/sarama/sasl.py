"""SASL as a new connection does it before anything else but ApiVersions.

Source: Shopify/sarama v1.27.2 broker.go (authenticateViaSASL), IBM/sarama v1.60.1 broker.go (authenticateViaSASLv0,
authenticateViaSASLv1). Left out: OAUTHBEARER and GSSAPI, which Validate refuses without objects of the program's.

Each message waits for its answer as long as any response may take, and each part of an answer anew. From 1.60.1 on the
exchange of version 1 runs over the connection's ordinary requests and responses (`Broker`).
"""

import struct
from collections.abc import Awaitable, Callable
from secrets import token_urlsafe
from typing import Any, TypeVar

from client.errors import ClientError
from client.net.connection import Connection
from client.net.errors import NetError
from client.profiles.sarama.config import Config, SaslConfig
from client.profiles.sarama.errors import KError, NetworkError, PacketDecodingError
from client.profiles.sarama.transport import write
from client.security.credentials import Credentials
from client.security.plain import encode_plain
from client.security.scram import ScramClient, ScramError
from client.wire.api import Api
from client.wire.apis.sasl_authenticate import (
    SASL_AUTHENTICATE,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest, SaslHandshakeResponse
from client.wire.errors import NONE
from client.wire.exceptions import MessageError
from client.wire.messages import decode_response, encode_request

R = TypeVar("R")
SendMessage = Callable[[bytes], Awaitable[bytes]]
"""Sends one message of the mechanism and gives the broker's next. Raises ClientError."""

_HEADER = struct.Struct(">Ii")
_SIZE = struct.Struct(">I")


def check_handshake(response: SaslHandshakeResponse, conf: Config) -> None:
    """Raises KError."""
    if response.error_code != NONE:
        raise conf.errors.kerror_from_code(response.error_code)


def auth_bytes(response: SaslAuthenticateResponse, conf: Config) -> bytes:
    """The broker's next message. Raises ClientError."""
    if response.error_code == NONE:
        return response.auth_bytes
    refused = conf.errors.kerror_from_code(response.error_code)
    if conf.release.wraps_sasl_refusals and response.error_message is not None:
        raise WrappedRefusal(refused, response.error_message)
    raise refused


class WrappedRefusal(ClientError):
    """A broker's refusal around its message (Wrap). errors.As finds no KError in it, so a metadata refresh takes it for
    an error of one broker, and asks the next."""

    def __init__(self, refused: KError, message: str) -> None:
        super().__init__("sentinelError", f"{refused.text}: {message}")


async def exchange(sasl: SaslConfig, send: SendMessage) -> None:
    """The mechanism's messages until both sides are done. Raises ClientError."""
    credentials = Credentials(user=sasl.user, password=sasl.password)
    if not sasl.scram:
        await send(encode_plain(credentials, identity=sasl.auth_identity))
        return
    client = ScramClient(sasl.mechanism, credentials, nonce=token_urlsafe(24), authorization_id=sasl.scram_authz_id)
    try:
        message = client.step(b"")
        while not client.done:
            message = client.step(await send(message))
    except ScramError as wrong:
        raise ClientError("errors.errorString", str(wrong)) from wrong


class DirectAuthentication:
    """Writes and reads by itself, before the connection has a reader. `correlation_id` is the next one to use."""

    def __init__(self, conn: Connection, conf: Config, correlation_id: int) -> None:
        assert conf.sasl is not None, "SASL is enabled"
        self.correlation_id = correlation_id
        self._conn = conn
        self._conf = conf
        self._sasl = conf.sasl

    async def authenticate(self) -> None:
        """Raises ClientError."""
        sasl, version = self._sasl, self._sasl.version
        if sasl.scram and not self._conf.release.authenticates_through_receiver:
            version = 1
        if sasl.handshake or sasl.scram:
            await self._handshake(version)
        await exchange(sasl, self._wrapped if version == 1 else self._bare)

    async def _handshake(self, version: int) -> None:
        request = SaslHandshakeRequest(mechanism=self._sasl.mechanism)
        payload = await self._ask(request, SASL_HANDSHAKE.name, version, checks_correlation=False)
        check_handshake(_decoded(SASL_HANDSHAKE, version, payload), self._conf)

    async def _wrapped(self, message: bytes) -> bytes:
        request = SaslAuthenticateRequest(auth_bytes=message)
        payload = await self._ask(request, SASL_AUTHENTICATE.name, 0, checks_correlation=True)
        return auth_bytes(_decoded(SASL_AUTHENTICATE, 0, payload), self._conf)

    async def _bare(self, message: bytes) -> bytes:
        """The message behind its length, and no request around it."""
        name = f"{self._sasl.mechanism} message"
        try:
            await write(
                self._conn, self._conf, _SIZE.pack(len(message)) + message,
                api=SASL_AUTHENTICATE.name, correlation_id=self.correlation_id, expects_response=True,
            )  # fmt: skip
            self.correlation_id += 1
            (size,) = _SIZE.unpack(await self._conn.read_full(_SIZE.size, limit=self._conf.read, purpose=name))
            answer = await self._conn.read_full(size, limit=self._conf.read, purpose=name) if size else b""
        except NetError as error:
            raise NetworkError(error) from error
        self._conn.on_response(_SIZE.size + size)
        return answer

    async def _ask(self, body: object, api: str, version: int, *, checks_correlation: bool) -> bytes:
        """The answer from its correlation id on."""
        wanted = self.correlation_id
        request = encode_request(body, version=version, correlation_id=wanted, client_id=self._conf.client_id)
        purpose = f"{api} response"
        try:
            await write(self._conn, self._conf, request, api=api, correlation_id=wanted, expects_response=True)
            self.correlation_id += 1
            header = await self._conn.read_full(_HEADER.size, limit=self._conf.read, purpose=purpose)
            length, correlation_id = _HEADER.unpack(header)
            if checks_correlation and correlation_id != wanted:
                text = f"correlation ID didn't match, wanted {self.correlation_id}, got {correlation_id}"
                raise ClientError("errors.errorString", text)
            payload = await self._conn.read_full((length - 4) & 0xFFFFFFFF, limit=self._conf.read, purpose=purpose)
        except NetError as error:
            raise NetworkError(error) from error
        self._conn.on_response(length + 4)
        return header[4:] + payload


def _decoded(api: Api[Any, R], version: int, payload: bytes) -> R:
    try:
        return decode_response(api, version, payload)[1]
    except MessageError as wrong:
        raise PacketDecodingError(str(wrong)) from wrong
