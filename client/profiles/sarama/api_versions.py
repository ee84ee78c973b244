"""What 1.60.1 asks each new connection before anything else, and what it makes of the answer.

Source: IBM/sarama v1.60.1 broker.go (Open, sendAndReceiveApiVersions), api_versions.go.

A broker that accepts and never answers costs two read time-outs here, and is then asked as if nothing had been.
"""

import struct
from collections.abc import Mapping

from client.net.connection import Connection
from client.net.errors import NetError
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import NetworkError, PacketDecodingError
from client.profiles.sarama.transport import write
from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from client.wire.errors import NONE
from client.wire.exceptions import MessageError
from client.wire.messages import decode_response, encode_request

ApiRanges = Mapping[int, tuple[int, int]]
"""Lowest and highest version that a broker speaks, by API key."""

_HEADER = struct.Struct(">Ii")
_PURPOSE = f"{API_VERSIONS.name} response"


def restrict_api_version(version: int, broker_range: tuple[int, int] | None) -> int:
    """The version to send where ours would be `version`: never above it, and theirs only as far as that allows."""
    if broker_range is None:
        return version
    lowest, highest = broker_range
    return min(version, max(min(version, highest), lowest))


class ApiVersionsHandshake:
    """One connection's first requests. `correlation_id` is the next one to use."""

    def __init__(self, conn: Connection, conf: Config, correlation_id: int) -> None:
        self.correlation_id = correlation_id
        self._conn = conn
        self._conf = conf

    async def negotiate(self, version: int) -> ApiRanges | None:
        """Ask with `version`; where that brings nothing good, with what the answer allows, else with 0.

        None where neither was answered in a way that can be read. Raises NetworkError where the connection broke; a
        time-out does not count as that, nor does a certificate that is refused.
        """
        answer = await self._ask(version)
        if answer is None or answer.error_code != NONE:
            allowed = () if answer is None else answer.api_keys
            second = next((row.max_version for row in allowed if row.api_key == API_VERSIONS.key), 0)
            answer = await self._ask(second)
        if answer is None:
            return None
        return {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}

    async def _ask(self, version: int) -> ApiVersionsResponse | None:
        try:
            return await self._send_and_receive(version)
        except NetError as error:
            failed = NetworkError(error)
            if failed.closes_connection:
                raise failed from error
            return None
        except PacketDecodingError:
            return None

    async def _send_and_receive(self, version: int) -> ApiVersionsResponse:
        """Upstream does not check the correlation id: a late answer may be taken for that of the next request."""
        body = ApiVersionsRequest(
            client_software_name="sarama", client_software_version=f"v{self._conf.release.version}"
        )
        request = encode_request(
            body, version=version, correlation_id=self.correlation_id, client_id=self._conf.client_id
        )
        await write(
            self._conn,
            self._conf,
            request,
            api=API_VERSIONS.name,
            correlation_id=self.correlation_id,
            expects_response=True,
        )
        self.correlation_id += 1
        header = await self._conn.read_full(_HEADER.size, limit=self._conf.read, purpose=_PURPOSE)
        length, _ = _HEADER.unpack(header)
        payload = await self._conn.read_full((length - 4) & 0xFFFFFFFF, limit=self._conf.read, purpose=_PURPOSE)
        self._conn.on_response(length + 4)
        try:
            return decode_response(API_VERSIONS, version, header[4:] + payload)[1]
        except MessageError as wrong:
            raise PacketDecodingError(str(wrong)) from wrong
