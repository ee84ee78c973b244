"""A client as kafka-go is built: writers that share a pool of connections, and a bare dialer. Its broker is an echo.

It shows what Sarama does not need: handles of two kinds on one shared part, an operation with a result of its own, one
that takes a deadline, and a send that blocks before anything is queued.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from client.errors import ClientError
from client.golang import Dialer, background, with_deadline
from client.limit import Limit
from client.net.connection import Connection
from client.operations import (
    CLOSE,
    CONNECT,
    SEND,
    Close,
    CommandError,
    Connect,
    Context,
    Handler,
    Handles,
    Result,
    Send,
)
from client.profiles import Profile
from client.profiles.contract import Address
from client.runtime import ClientRuntime
from client.settings import Setting, Settings, SettingsTable


class Pool:
    """One connection for all writers. A writer that finds it in use waits before its message is queued."""

    def __init__(self, runtime: ClientRuntime, settings: Settings, address: Address) -> None:
        self.dialer = Dialer(runtime)
        self.address = address
        self._runtime = runtime
        self._dial = Limit(settings.seconds("Pool.DialTimeout"), ("Pool.DialTimeout",))
        self._wait = Limit(settings.seconds("Writer.BlockTimeout"), ("Pool.Size", "Writer.BlockTimeout"))
        self._free = asyncio.Semaphore(1)
        self._connection: Connection | None = None

    @asynccontextmanager
    async def connection(self) -> Any:
        if self._free.locked():
            with self._runtime.tracer.sleeping(self._wait, "pool"):
                try:
                    async with asyncio.timeout(self._wait.seconds):
                        await self._free.acquire()
                except TimeoutError:
                    raise ClientError("pool.ErrBlocked", "no connection became free") from None
        else:
            await self._free.acquire()
        try:
            if self._connection is None:
                self._connection = await self.dialer.dial(*self.address, broker=-1, limit=self._dial)
            yield self._connection
        finally:
            self._free.release()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Writer:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sent = 0

    async def send(self, value: bytes) -> int:
        async with self._pool.connection() as connection:
            await connection.send(value, api="Echo", correlation_id=self._sent, limit=Limit(), expects_response=True)
            await connection.read_full(len(value), limit=Limit(), purpose="echo")
            connection.on_response(len(value))
        self._sent += 1
        return self._sent

    async def close(self) -> None:
        """The pool stays: other writers use it."""


class BareDialer:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def dial(self, context: Context) -> int:
        """Dials again and again until the context is over, for a broker that answers nothing."""
        deadline_at = context.deadline_at
        with background() if deadline_at is None else with_deadline(background(), deadline_at) as ctx:
            context.cancellation.on_cancel(ctx.cancel)
            dialling = asyncio.create_task(self._pool.dialer.dial(*self._pool.address, broker=-1, limit=Limit()))
            over = asyncio.create_task(ctx.done.receive())
            try:
                await asyncio.wait([dialling, over], return_when=asyncio.FIRST_COMPLETED)
            finally:
                over.cancel()
                dialling.cancel()
            if not dialling.done() or dialling.cancelled():
                raise ClientError("context.Error", ctx.error or "")
            connection = dialling.result()
            connection.close()
            return connection.number

    async def close(self) -> None: ...


class PooledSession:
    def __init__(
        self, runtime: ClientRuntime, settings: Settings, bootstrap: Sequence[Address], *, producer: str | None
    ) -> None:
        self.handles: Handles[Writer | BareDialer] = Handles("handle")
        self._pool = Pool(runtime, settings, bootstrap[0])

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            CONNECT.name: CONNECT.handler(self._connect),
            "make_dialer": CONNECT.handler(self._make_dialer),
            SEND.name: SEND.handler(self._send),
            "dial": self._dial,
            CLOSE.name: CLOSE.handler(self._close),
        }

    async def _connect(self, arguments: Connect, _: Context) -> Result:
        async def new_writer() -> Writer:
            return Writer(self._pool)

        await self.handles.open(arguments.handle, new_writer)
        return {}

    async def _make_dialer(self, arguments: Connect, _: Context) -> Result:
        async def new_dialer() -> BareDialer:
            return BareDialer(self._pool)

        await self.handles.open(arguments.handle, new_dialer)
        return {}

    async def _send(self, message: Send, _: Context) -> Result:
        handle = self.handles[message.handle]
        if not isinstance(handle, Writer):
            raise CommandError(f"{message.handle} is a dialer: it sends nothing")
        return {"written": await handle.send(message.value)}

    async def _dial(self, arguments: Mapping[str, object], context: Context) -> Result:
        handle = self.handles[str(arguments["handle"])]
        assert isinstance(handle, BareDialer)
        return {"connection": await handle.dial(context), "reached": True}

    async def _close(self, arguments: Close, _: Context) -> Result:
        await self.handles.close(arguments.handle)
        if self.handles.closed:
            self._pool.close()
        return {}


POOLED = Profile(
    name="pooled",
    about="writers on one pool",
    releases=("1",),
    settings=SettingsTable(
        "pooled",
        (
            Setting(name="Pool.DialTimeout", kind="duration", default=1.0),
            Setting(name="Pool.Size", kind="count", default=1),
            Setting(name="Writer.BlockTimeout", kind="duration", default=2.0),
        ),
    ),
    open=PooledSession,
    no_deadline={"send": "a Writer's Send takes no context"},
)
