"""Probes through a proxy: how long an ApiVersions request takes to be answered, before and after a lever is pulled.

Plain asyncio over the running loop, so that every world measures the same thing in the same way.
"""

import asyncio
from math import inf
from typing import Protocol

from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from client.wire.exceptions import WireError
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from harness.brokers.embedded.intercepts import PROBE_CLIENT_ID
from harness.levers import DelaySeen, Evidence

_CORRELATION_ID = 1
_READ_SIZE = 65_536
_BEFORE = 3
"""Probes before the lever. A busy machine makes some of them late; the fastest shows the round trip itself."""
_PATIENCE_S = 0.2
"""How long rounds of probes are repeated where a busy machine makes every probe of a round late."""


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


class DelayProbe:
    """What a lever adds to the round trip: several probes at once, pull the lever, one probe again.

    `await measure_before()`; pull; `start_measuring_after()`; later `await delay_s()`. The second probe runs beside the
    run's steps and delays none. Where no probe before was answered nothing can be compared, and `delay_s` is None.
    `fast_enough_s` is the longest that the round trip itself takes: probes before the lever that all take longer are
    repeated for a moment, or the lever would seem to add less than it does.
    """

    def __init__(
        self, address: tuple[str, int], *, limit_s: float, fast_enough_s: float = inf, source: str | None = None
    ) -> None:
        self._address = address
        self._source = source
        self._limit_s = limit_s
        self._quick_s = fast_enough_s
        self._before_s: float | None = None
        self._after: asyncio.Task[float | None] | None = None

    async def measure_before(self) -> None:
        loop = asyncio.get_running_loop()
        deadline_s = inf
        while True:
            times_s = [*await asyncio.gather(*(self._measured() for _ in range(_BEFORE))), self._before_s]
            self._before_s = min((time_s for time_s in times_s if time_s is not None), default=None)
            if self._before_s is None or self._before_s <= self._quick_s or loop.time() >= deadline_s:
                return
            deadline_s = min(deadline_s, loop.time() + _PATIENCE_S)  # a first round may take long to begin

    def start_measuring_after(self) -> None:
        """Start the second probe."""
        self._after = asyncio.create_task(self._measured(), name="probe")

    async def delay_s(self) -> float | None:
        """Seconds that the probe afterwards took longer than the quickest before; None where it, or none before, had an
        answer. Waits for it if it is under way."""
        if self._after is None or self._after.cancelled():
            return None
        after_s = await asyncio.shield(self._after)
        return None if after_s is None or self._before_s is None else after_s - self._before_s

    async def evidence(self) -> DelaySeen:
        return DelaySeen(delay_s=await self.delay_s())

    async def close(self) -> None:
        """End a probe that is still under way."""
        if self._after is not None and not self._after.done():
            self._after.cancel()
            await asyncio.gather(self._after, return_exceptions=True)

    async def _measured(self) -> float | None:
        try:
            return await round_trip_s(self._address, limit_s=self._limit_s, source=self._source)
        except ProbeFailed:
            return None


class EffectProbe(Protocol):
    """Collects one toxic's evidence: `measure_before()`; add the toxic; `start_measuring_after()`; `evidence()`."""

    async def measure_before(self) -> None: ...

    def start_measuring_after(self) -> None: ...

    async def evidence(self) -> Evidence: ...

    async def close(self) -> None: ...


class MakeProbe(Protocol):
    """Makes a probe of a proxy's address; the arguments are those of DelayProbe."""

    def __call__(
        self, address: tuple[str, int], *, limit_s: float, fast_enough_s: float = inf, source: str | None = None
    ) -> EffectProbe: ...


PROBES: dict[type[Evidence], MakeProbe] = {DelaySeen: DelayProbe}
"""By the evidence that each collects; `harness.levers.toxic.TOXIC_KINDS` names the evidence of each kind of toxic."""
