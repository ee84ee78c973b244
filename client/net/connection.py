"""One connection to a broker as a client uses it: requests out, responses in, each wait traced with its settings.

It is built on `Stream`. How a client numbers requests and handles errors is its profile's.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from client.events import TraceKind, Tracer
from client.limit import Limit
from client.net.errors import Cause, NetError
from client.net.stream import Stream
from client.net.tls_stream import TlsStream

R = TypeVar("R")


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
        self._stream: Stream | TlsStream = stream
        self._tracer = tracer
        self._loop = asyncio.get_running_loop()
        self._closed = False

    @property
    def has_pending_error(self) -> bool:
        """Whether the kernel has an error for it that no operation has raised yet."""
        return self._stream.has_pending_error

    def use_tls(
        self, context: ssl.SSLContext, *, server_name: str, records: Callable[[bytes], Iterable[bytes]]
    ) -> None:
        """Encrypt from now on; nothing was sent before. `server_name` is what the certificate has to be for; `records`
        cuts what is written at once, as the client does."""
        assert isinstance(self._stream, Stream), "TLS inside of TLS"
        self._stream = TlsStream(self._stream, context, server_name=server_name, records=records)

    @property
    def needs_handshake(self) -> bool:
        """Whether a TLS handshake is due before anything can be sent."""
        return isinstance(self._stream, TlsStream) and not self._stream.established

    async def handshake(self, *, read: Limit, write: Limit) -> None:
        """Make the TLS handshake, each direction within its limit from now: traced as one wait, for the peer.

        One that has failed fails again at once.
        """
        assert isinstance(self._stream, TlsStream), "a handshake without TLS"
        if self._stream.failure is not None:
            raise self._stream.failure.again()
        now = self._loop.time()
        self._stream.set_read_deadline(read.deadline_at(now))
        self._stream.set_write_deadline(write.deadline_at(now))
        await self._waiting(self._stream.handshake(), read, "TLS handshake")

    def set_read_limit(self, limit: Limit) -> None:
        """From now on, also for a read that waits."""
        self._stream.set_read_deadline(limit.deadline_at(self._loop.time()))

    async def _waiting(self, operation: Awaitable[R], limit: Limit, purpose: str) -> R:
        """An operation as a wait in the trace."""
        wait = self._tracer.wait(limit, purpose, **self._trace_fields())
        outcome = "failed"
        try:
            result = await operation
            outcome = "satisfied"
        except NetError as error:
            outcome = "elapsed" if error.cause is Cause.TIMEOUT else "failed"
            raise
        finally:
            wait.end(outcome)
        return result

    async def send(
        self,
        request: bytes,
        *,
        api: str,
        correlation_id: int,
        limit: Limit,
        expects_response: bool,
        piece_bytes: int | None = None,
    ) -> InFlight:
        """Write one frame; returns when the kernel has all of it.

        `expects_response` says whether a response will come; `piece_bytes`, how much the client gives to the kernel at
        once: a later piece finds out what the peer answered to an earlier one. Traced as a wait only if the kernel does
        not take the frame at once.
        """
        started_at = self._loop.time()
        self._stream.set_write_deadline(limit.deadline_at(started_at))
        size = piece_bytes or len(request)
        pieces = iter([request[start : start + size] for start in range(0, len(request), size)])
        for piece in pieces:
            if not self._stream.try_write(piece):
                await self._waiting(self._write_rest(pieces), limit, f"{api} request")
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

    async def _write_rest(self, pieces: Iterator[bytes]) -> None:
        """Once the kernel has what was written before."""
        await self._stream.drain()
        for piece in pieces:
            if not self._stream.try_write(piece):
                await self._stream.drain()

    async def read_full(self, size_bytes: int, *, limit: Limit, purpose: str) -> bytes:
        """Exactly so many bytes, within the limit from now. Traced as a wait only if they have not come yet."""
        if self._stream.buffered_bytes >= size_bytes or not self._stream.open_for_reading:
            return await self._stream.read_full(size_bytes)
        self._stream.set_read_deadline(limit.deadline_at(self._loop.time()))
        return await self._waiting(self._stream.read_full(size_bytes), limit, purpose)

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
