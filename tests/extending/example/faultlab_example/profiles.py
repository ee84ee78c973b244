"""A client that lists consumer groups and does nothing else."""

import asyncio
from collections.abc import Mapping, Sequence

from client.limit import Limit
from client.operations import CLOSE, CONNECT, Close, Connect, Context, Handler, Handles, Result
from client.profiles.contract import Profile
from client.runtime import ClientRuntime
from client.settings import Setting, Settings, SettingsTable
from client.wire.messages import decode_response, encode_request
from faultlab_example.apis import LIST_GROUPS, ListGroupsRequest

SETTINGS = SettingsTable(
    "lister", (Setting(name="Client.Timeout", kind="duration", default=30.0, about="The longest wait for an answer"),)
)


class Lister:
    """One connection to a broker."""

    def __init__(self, runtime: ClientRuntime, limit: Limit) -> None:
        self._runtime = runtime
        self._limit = limit

    async def dial(self, host: str, port: int) -> "Lister":
        self._reader, self._writer = await asyncio.open_connection(host, port)
        return self

    async def list_groups(self) -> int:
        self._writer.write(encode_request(ListGroupsRequest(), version=0, correlation_id=1, client_id="lister"))
        wait = self._runtime.tracer.wait(self._limit, "list_groups response")
        size_bytes = int.from_bytes(await self._reader.readexactly(4), "big")
        _, listed = decode_response(LIST_GROUPS, 0, await self._reader.readexactly(size_bytes))
        wait.end("satisfied")
        return len(listed.groups)

    async def close(self) -> None:
        self._writer.close()


class ListerSession:
    def __init__(
        self, runtime: ClientRuntime, settings: Settings, bootstrap: Sequence[tuple[str, int]], *, producer: str | None
    ) -> None:
        self.handles: Handles[Lister] = Handles("lister")
        self._runtime = runtime
        self._settings = settings
        self._bootstrap = bootstrap

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            CONNECT.name: CONNECT.handler(self._connect),
            "list_groups": self._list_groups,
            CLOSE.name: CLOSE.handler(self._close),
        }

    async def _connect(self, arguments: Connect, _: Context) -> Result:
        lister = Lister(self._runtime, Limit(self._settings.seconds("Client.Timeout"), ("Client.Timeout",)))
        await self.handles.open(arguments.handle, lambda: lister.dial(*self._bootstrap[0]))
        return {}

    async def _list_groups(self, _arguments: Mapping[str, object], _: Context) -> Result:
        return {"groups": await self.handles["main"].list_groups()}

    async def _close(self, arguments: Close, _: Context) -> Result:
        await self.handles.close(arguments.handle)
        return {}


PROFILE = Profile(
    name="lister",
    about="Lists consumer groups",
    releases=("1.0",),
    settings=SETTINGS,
    open=ListerSession,
    no_deadline=dict.fromkeys(("connect", "list_groups", "close"), "it takes no context"),
)
