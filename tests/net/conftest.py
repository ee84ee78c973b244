"""Real sockets on 127.0.0.1 and a tracer that keeps what it is told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random

import pytest

from client.events import Tracer, TraceValue
from client.net.resolver import TableResolver
from client.runtime import ClientRuntime

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Traced:
    """Surroundings whose events are kept."""

    def __init__(self) -> None:
        self.events: list[tuple[int, str, dict[str, TraceValue]]] = []

    def runtime(self) -> ClientRuntime:
        loop = asyncio.get_running_loop()
        tracer = Tracer(loop.time, lambda at_ns, kind, fields: self.events.append((at_ns, kind, fields)))
        return ClientRuntime(Random(1), TableResolver(), tracer)

    def kinds(self) -> list[str]:
        return [kind for _, kind, _ in self.events]

    def of(self, kind: str) -> list[dict[str, TraceValue]]:
        return [fields for _, found, fields in self.events if found == kind]


@pytest.fixture
def traced() -> Traced:
    return Traced()


@pytest.fixture
def listening() -> Callable[[Handler], object]:
    """`async with listening(handler) as port`: a server on 127.0.0.1 whose connections the handler treats."""

    @asynccontextmanager
    async def listen(handler: Handler) -> AsyncIterator[int]:
        handlers: dict[asyncio.Task[None], None] = {}

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            handlers[task] = None
            try:
                await handler(reader, writer)
            except asyncio.CancelledError:
                writer.transport.abort()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in handlers:
                task.cancel()
            await asyncio.gather(*handlers, return_exceptions=True)

    return listen
