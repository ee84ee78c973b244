"""One connection to a broker as a client uses it: requests out, responses in, each wait traced with its settings.

It is built on `Stream`. How a client numbers requests and handles errors is its profile's.
"""

import asyncio
from collections import deque
from typing import NamedTuple

from client.events import TraceKind, Tracer
from client.limit import Limit
from client.net.errors import Cause, NetError
from client.net.stream import Stream


class InFlight(NamedTuple):
    """A request whose response has not been read."""

    correlation_id: int
    api: str
    sent_at: float


class Connection:
    """`number` is unique within the subject, `broker` the broker's id, -1 for a bootstrap address.

    Every operation raises NetError. Brokers answer in order, so what is in flight is a queue.
    """

    def __init__(self, stream: Stream, tracer: Tracer, number: int, broker: int) -> None:
        self.number = number
        self.broker = broker
        self.address = stream.remote
        self.in_flight: deque[InFlight] = deque()
        self._stream = stream
        self._tracer = tracer
        self._loop = asyncio.get_running_loop()
        self._closed = False

    @property
    def has_pending_error(self) -> bool:
        """Whether the kernel has an error for it that no operation has raised yet."""
        return self._stream.has_pending_error

    async def send(
        self, request: bytes, *, api: str, correlation_id: int, limit: Limit, expects_response: bool
    ) -> InFlight:
        """Write one frame; returns when the kernel has all of it.

        `expects_response` says whether a response will come. Traced as a wait only if the kernel does not take the
        frame at once.
        """
        started_at = self._loop.time()
        self._stream.set_write_deadline(limit.deadline_at(started_at))
        if not self._stream.try_write(request):
            wait = self._tracer.wait(limit, f"{api} request", **self._trace_fields())
            try:
                await self._stream.drain()
            except NetError as error:
                wait.end("elapsed" if error.cause is Cause.TIMEOUT else "failed")
                raise
            wait.end("satisfied")
        sent = InFlight(correlation_id, api, started_at)
        if expects_response:
            self.in_flight.append(sent)
        self._tracer.emit(
            TraceKind.REQUEST_SENT,
            **self._trace_fields(),
            api=api,
            correlation_id=sent.correlation_id,
            bytes=len(request),
        )
        return sent

    async def read_full(self, size_bytes: int, *, limit: Limit, purpose: str) -> bytes:
        """Exactly so many bytes, within the limit from now. Traced as a wait only if they have not come yet."""
        if self._stream.buffered_bytes >= size_bytes or not self._stream.open_for_reading:
            return await self._stream.read_full(size_bytes)
        self._stream.set_read_deadline(limit.deadline_at(self._loop.time()))
        wait = self._tracer.wait(limit, purpose, **self._trace_fields())
        try:
            data = await self._stream.read_full(size_bytes)
        except NetError as error:
            wait.end("elapsed" if error.cause is Cause.TIMEOUT else "failed")
            raise
        except asyncio.CancelledError:
            wait.end("failed")
            raise
        wait.end("satisfied")
        return data

    def on_response(self, size_bytes: int) -> InFlight:
        """The whole response to the oldest request in flight has been read; `size_bytes` counts its frame."""
        done = self.in_flight.popleft()
        self._tracer.emit(
            TraceKind.RESPONSE_RECEIVED,
            **self._trace_fields(),
            api=done.api,
            correlation_id=done.correlation_id,
            bytes=size_bytes,
        )
        return done

    def close(self, error: str | None = None) -> None:
        """Close at once. `error` is why, None for an orderly close."""
        if self._closed:
            return
        self._closed = True
        self._stream.close()
        why = {} if error is None else {"error": error}
        self._tracer.emit(TraceKind.CONNECTION_CLOSED, **self._trace_fields(), address=self.address, **why)

    def _trace_fields(self) -> dict[str, int]:
        return {"connection": self.number, "broker": self.broker}
