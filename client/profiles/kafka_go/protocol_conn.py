"""One connection that speaks the protocol: a request out, its response in, before the next.

Source: segmentio/kafka-go v0.4.8 protocol/conn.go, roundtrip.go, request.go, response.go.
"""

import struct
from collections.abc import Hashable
from typing import Any

from client.net.connection import Connection
from client.net.errors import NetError
from client.profiles.kafka_go.bounded import Bounded
from client.profiles.kafka_go.errors import GoError, from_net_error, unexpected_eof
from client.profiles.kafka_go.releases import Release
from client.wire.api import Api, api_for_body
from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from client.wire.apis.create_topics import CREATE_TOPICS
from client.wire.apis.list_offsets import LIST_OFFSETS
from client.wire.apis.metadata import METADATA
from client.wire.apis.produce import PRODUCE, ProduceRequest
from client.wire.apis.sasl_authenticate import SASL_AUTHENTICATE
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE
from client.wire.exceptions import MessageError
from client.wire.messages import decode_correlation_id, decode_response, encode_request

_SIZE = struct.Struct(">i")

Versions = dict[int, int]
"""The version of each API that is sent on a connection, by its key."""

SENT_VERSIONS = (
    (PRODUCE, 7), (PRODUCE, 8), (LIST_OFFSETS, 5), (METADATA, 1), (METADATA, 6), (METADATA, 8), (API_VERSIONS, 0),
    (CREATE_TOPICS, 4), (CREATE_TOPICS, 5), (SASL_HANDSHAKE, 1), (SASL_AUTHENTICATE, 0),
)  # fmt: skip
"""What the releases send to a broker that knows all of it."""


def select_versions(release: Release, answer: ApiVersionsResponse) -> Versions:
    """Of each API that the broker names, the highest version that both know (ApiKey.SelectVersion)."""
    known = _known_versions(release)
    return {
        row.api_key: _select(*known[row.api_key], row.min_version, row.max_version)
        for row in answer.api_keys
        if row.api_key in known
    }


def _known_versions(release: Release) -> dict[int, tuple[int, int]]:
    """Lowest and highest version of what the profile sends. Source: the struct tags in protocol/*/*.go."""
    return {
        PRODUCE.key: (0, 8),
        LIST_OFFSETS.key: (1, 5),
        METADATA.key: (0, 8),
        API_VERSIONS.key: (0, 2),
        CREATE_TOPICS.key: (0, 5 if release.flexible_create_topics else 4),
    }


def _select(our_min: int, our_max: int, their_min: int, their_max: int) -> int:
    if our_min > their_max:
        return our_min
    return min(our_max, their_max)


PAGE_BYTES = 64 * 1024
"""A request is written page by page. Source: segmentio/kafka-go v0.4.8 protocol/buffer.go (pageSize, WriteTo)."""


class ProtocolConn:
    """`versions` is empty until ApiVersions has been answered: every request is version 0 so far."""

    def __init__(self, conn: Connection, client_id: str) -> None:
        self.versions: Versions = {}
        self._conn = conn
        self._client_id = client_id
        self._correlation_id = 0

    async def round_trip(self, bounded: Bounded, request: Hashable) -> Any:
        """The response's body; None where the request asks for none. Raises GoError."""
        self._correlation_id += 1
        api = api_for_body(type(request))
        version = self.versions.get(api.key, 0)
        correlation_id = self._correlation_id
        try:
            encoded = encode_request(request, version=version, correlation_id=correlation_id, client_id=self._client_id)
        except MessageError as wrong:
            raise GoError("errors.errorString", str(wrong)) from wrong
        answered = not (isinstance(request, ProduceRequest) and request.acks == 0)
        try:
            await self._conn.send(
                encoded, api=api.name, correlation_id=correlation_id, limit=bounded.limit(), expects_response=answered,
                piece_bytes=PAGE_BYTES,
            )  # fmt: skip
            return await self._read_response(bounded, api, version, correlation_id) if answered else None
        except NetError as error:
            raise from_net_error(error) from error

    async def _read_response(self, bounded: Bounded, api: Api[Any, Any], version: int, correlation_id: int) -> Any:
        purpose = f"{api.name} response"
        (size,) = _SIZE.unpack(await self._conn.read_full(_SIZE.size, limit=bounded.limit(), purpose=purpose))
        payload = await self._conn.read_full(size, limit=bounded.limit(), purpose=purpose)
        self._conn.on_response(_SIZE.size + size)
        try:
            found = decode_correlation_id(payload)
            if found != correlation_id:
                # Upstream decodes the rest first, and takes it as it comes: a negative length is an empty array.
                raise GoError("protocol.Error", f"correlation id mismatch (expected={correlation_id}, found={found})")
            _, body = decode_response(api, version, payload)
        except MessageError as wrong:
            raise unexpected_eof() from wrong
        return body

    async def negotiate(self, bounded: Bounded, release: Release, address: str) -> None:
        """ApiVersions, always version 0, and what follows from its answer. Raises GoError."""
        answer: ApiVersionsResponse = await self.round_trip(bounded, ApiVersionsRequest())
        if answer.error_code != 0:
            prefix = f"negotating API versions with kafka broker at {address}"  # upstream's spelling
            raise release.errors.kerror(answer.error_code).wrap(prefix)
        self.versions = select_versions(release, answer)

    def close(self, error: str | None = None) -> None:
        """Close at once. `error` is why, None for an orderly close."""
        self._conn.close(error)
