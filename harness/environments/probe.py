"""Probes through a proxy: how long an ApiVersions request takes to be answered.

Plain asyncio over the running loop, so that every world measures the same thing in the same way.
"""

import asyncio

from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from client.wire.exceptions import WireError
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from harness.brokers.embedded.intercepts import PROBE_CLIENT_ID

_CORRELATION_ID = 1
_READ_SIZE = 65_536


class ProbeFailed(Exception):
    """A probe had no answer: `reason` says what happened instead."""

    def __init__(self, address: tuple[str, int], reason: str) -> None:
        super().__init__(f"a probe of {address[0]}:{address[1]} {reason}")
        self.address = address
        self.reason = reason

    def __reduce__(self) -> tuple[type["ProbeFailed"], tuple[tuple[str, int], str]]:
        """Crosses from a cell into the process that asked for it."""
        return (type(self), (self.address, self.reason))


async def round_trip_s(address: tuple[str, int], *, limit_s: float, source: str | None = None) -> float:
    """Seconds from an ApiVersions request to its whole answer, on a new connection, without the time to connect.

    `source`: the address to dial from; None leaves it to the world.
    Raises ProbeFailed where the answer does not come within `limit_s`, or is none.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(loop.time() + limit_s):
            reader, writer = await (
                asyncio.open_connection(*address)
                if source is None
                else asyncio.open_connection(*address, local_addr=(source, 0))
            )
            try:
                began_s = loop.time()
                await ask(address, reader, writer)
                return loop.time() - began_s
            finally:
                writer.transport.abort()
    except TimeoutError as late:
        raise ProbeFailed(address, f"had no answer within {limit_s:g} s") from late
    except OSError as broken:
        raise ProbeFailed(address, f"failed: {broken}") from broken


async def ask(address: tuple[str, int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send an ApiVersions request on this connection and wait for its whole answer. Raises ProbeFailed."""
    request = ApiVersionsRequest()
    writer.write(encode_request(request, version=0, correlation_id=_CORRELATION_ID, client_id=PROBE_CLIENT_ID))
    await writer.drain()
    frames = FrameReader()
    while True:
        data = await reader.read(_READ_SIZE)
        if not data:
            raise ProbeFailed(address, "was closed before it was answered")
        try:
            for payload in frames.feed(data):
                decode_response(API_VERSIONS, 0, payload)
                return
        except WireError as wrong:
            raise ProbeFailed(address, f"was answered with something else: {wrong}") from wrong
