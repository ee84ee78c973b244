"""Requests and responses, to bytes and back: header, body, and the frame around what is sent.

    sent = encode_request(MetadataRequest(topics=None), version=5, correlation_id=7, client_id="sarama")
    correlation_id, answer = decode_response(METADATA, 5, payload)

A response does not say what it is: decoding needs the request that it answers. The bodies stand in
`client.wire.apis`, the same dataclass for every version of an API. Malformed bytes raise MessageError with API, version
and offset, and never anything else; values that do not fit raise it too.
"""

import struct
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar

from client.wire.api import Api, api_for_body, apis
from client.wire.apis.api_versions import API_VERSIONS
from client.wire.codec import Codec, compile_codec
from client.wire.errors import UNSUPPORTED_VERSION
from client.wire.exceptions import MalformedDataError, MessageError
from client.wire.frames import frame
from client.wire.primitives import read_uvarint, text, truncated_error
from client.wire.schema import Direction, message_schema

Q = TypeVar("Q")
R = TypeVar("R")

_REQUEST_HEADER = struct.Struct(">hhi")
_CORRELATION_ID = struct.Struct(">i")
_read_client_id, _write_client_id = text(nullable=True, flexible=False)

_MAX_CACHED_BODY_BYTES = 4096
"""Bodies above that are not kept, so that what is kept stays under some megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeader:
    """What every request begins with, whatever its API. Source: RequestHeader.json."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decoded request; `body` is of the API's request type."""

    api: Api[Any, Any]
    version: int
    correlation_id: int
    client_id: str | None
    body: Any


def encode_request(body: object, *, version: int, correlation_id: int, client_id: str | None) -> bytes:
    """A framed request. Raises MessageError for a version that is not known or a value that does not fit."""
    api = _api(body, "request")
    codec, flexible = _codec(api, version, "request")
    out = bytearray()
    try:
        out += _REQUEST_HEADER.pack(api.key, version, correlation_id)
        _write_client_id(out, client_id)
    except (struct.error, AttributeError, ValueError) as wrong:
        raise MessageError(f"{api.name} request", version, None, f"header: {wrong}") from wrong
    if flexible:
        out.append(0)
    out += _encoded(api, version, "request", codec, body)
    return frame(out)


def encode_response(body: object, *, version: int, correlation_id: int) -> bytes:
    """A framed response to a request of that version. Raises MessageError as `encode_request` does."""
    api = _api(body, "response")
    codec, flexible = _codec(api, version, "response")
    try:
        out = bytearray(_CORRELATION_ID.pack(correlation_id))
    except struct.error as wrong:
        raise MessageError(f"{api.name} response", version, None, f"correlation_id: {wrong}") from wrong
    if flexible:
        out.append(0)
    out += _encoded(api, version, "response", codec, body)
    return frame(out)


def decode_request_header(payload: bytes) -> RequestHeader:
    """The header alone, which can be read even if the API or its version is unknown."""
    return _request_header(payload)[0]


def decode_request(payload: bytes) -> Request:
    """A whole request. Raises MessageError, also where its API or version is not known."""
    header, position = _request_header(payload)
    api = apis().get(header.api_key)
    if api is None:
        raise MessageError(f"API {header.api_key} request", header.api_version, 0, "this API is not known")
    codec, flexible = _codec(api, header.api_version, "request")
    body = _decoded(api, header.api_version, "request", codec, payload, position, skip_tags=flexible)
    return Request(
        api=api,
        version=header.api_version,
        correlation_id=header.correlation_id,
        client_id=header.client_id,
        body=body,
    )


def decode_response(api: Api[Q, R], version: int, payload: bytes) -> tuple[int, R]:
    """The correlation id and the body of a response to a request of that version. Raises MessageError.

    A broker that does not know an ApiVersions version answers in version 0 with error 35, whatever was asked
    (KIP-511): such an answer is decoded as what it is.
    """
    correlation_id = decode_correlation_id(payload)
    if api.key == API_VERSIONS.key and payload[4:6] == _UNSUPPORTED:
        version = 0
    codec, flexible = _codec(api, version, "response")
    body: R = _decoded(api, version, "response", codec, payload, 4, skip_tags=flexible)
    return correlation_id, body


def has_tagged_header(api: Api[Any, Any], version: int) -> bool:
    """Whether a response of that version has tagged fields behind its correlation id (header v1): a byte at least."""
    return _codec(api, version, "response")[1]


def decode_correlation_id(payload: bytes) -> int:
    """The number of the request that this response answers. Raises MessageError."""
    if len(payload) < 4:
        raise MessageError("response header", None, 0, f"4 bytes expected, {len(payload)} left")
    (correlation_id,) = _CORRELATION_ID.unpack_from(payload)
    return int(correlation_id)


def prepare(api: Api[Any, Any], version: int) -> None:
    """Load what any message needs, and build what this version's do, so that the first one costs no more than the next
    (40 to 200 ms).

    Raises MessageError where the version is not known.
    """
    apis()
    _codec(api, version, "request")
    _codec(api, version, "response")


_UNSUPPORTED = struct.pack(">h", UNSUPPORTED_VERSION)


def _api(body: object, direction: Direction) -> Api[Any, Any]:
    kind: type = type(body)
    try:
        api = api_for_body(kind)
    except KeyError:
        raise MessageError(direction, None, None, f"{kind.__name__} is no body of any API") from None
    if kind is not (api.request if direction == "request" else api.response):
        raise MessageError(f"{api.name} {direction}", None, None, f"{kind.__name__} is no {direction}")
    return api


@cache
def _codec(api: Api[Any, Any], version: int, direction: Direction) -> tuple[Codec, bool]:
    if version not in api.versions:
        known = f"{api.versions[0]} to {api.versions[-1]}"
        raise MessageError(f"{api.name} {direction}", version, None, f"this version is not known, only {known}")
    schema = message_schema(api.module, version, direction)
    model = api.request if direction == "request" else api.response
    return compile_codec(schema.body, model), schema.flexible_header


def _request_header(payload: bytes) -> tuple[RequestHeader, int]:
    try:
        if len(payload) < _REQUEST_HEADER.size:
            raise truncated_error(0, _REQUEST_HEADER.size, payload)
        key, version, correlation_id = _REQUEST_HEADER.unpack_from(payload)
        client_id, position = _read_client_id(payload, _REQUEST_HEADER.size)
    except MalformedDataError as wrong:
        raise MessageError("request header", None, wrong.offset, wrong.reason) from wrong
    header = RequestHeader(api_key=key, api_version=version, correlation_id=correlation_id, client_id=client_id)
    return header, position


def _encoded(api: Api[Any, Any], version: int, direction: Direction, codec: Codec, body: object) -> bytes | bytearray:
    try:
        return _cached_encoding(codec, body) if api.cacheable else _write(codec, body)
    except (ValueError, TypeError) as wrong:
        raise MessageError(f"{api.name} {direction}", version, None, str(wrong)) from wrong


def _write(codec: Codec, body: object) -> bytearray:
    out = bytearray()
    codec.write(out, body)
    return out


@lru_cache(maxsize=256)
def _cached_encoding(codec: Codec, body: object) -> bytes:
    return bytes(_write(codec, body))


def _decoded(
    api: Api[Any, Any],
    version: int,
    direction: Direction,
    codec: Codec,
    payload: bytes,
    position: int,
    *,
    skip_tags: bool,
) -> Any:
    try:
        if api.cacheable and len(payload) - position <= _MAX_CACHED_BODY_BYTES:
            return _cached_decoding(codec, payload[position:], position, skip_tags)
        return _read(codec, payload, position, skip_tags=skip_tags)
    except MalformedDataError as wrong:
        raise MessageError(f"{api.name} {direction}", version, wrong.offset, wrong.reason) from wrong


@lru_cache(maxsize=256)
def _cached_decoding(codec: Codec, rest: bytes, before: int, skip_tags: bool) -> Any:
    try:
        return _read(codec, rest, 0, skip_tags=skip_tags)
    except MalformedDataError as wrong:
        raise MalformedDataError(wrong.offset + before, wrong.reason) from wrong


def _read(codec: Codec, data: bytes, position: int, *, skip_tags: bool) -> Any:
    if skip_tags:
        position = _skip_tags(data, position)
    body, end = codec.read(data, position)
    if end != len(data):
        raise MalformedDataError(end, f"{len(data) - end} bytes are left over")
    return body


def _skip_tags(data: bytes, position: int) -> int:
    """Tagged fields of a header: none is defined yet, so whatever comes is skipped."""
    count, position = read_uvarint(data, position)
    for _ in range(count):
        _, position = read_uvarint(data, position)
        size, position = read_uvarint(data, position)
        if position + size > len(data):
            raise truncated_error(position, size, data)
        position += size
    return position
