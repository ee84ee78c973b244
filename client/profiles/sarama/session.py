"""The program around Sarama: producers by name, each with a client of its own, as NewSyncProducer makes them."""

from collections.abc import Mapping, Sequence

from client.operations import CLOSE, CONNECT, SEND, Close, Connect, Context, Handler, Handles, Result, Send
from client.profiles.sarama.async_adapter import new_async_producer_adapter
from client.profiles.sarama.producer import NewProducer, Producer
from client.profiles.sarama.sync_producer import new_sync_producer
from client.runtime import ClientRuntime
from client.settings import Settings

PRODUCERS: Mapping[str, NewProducer] = {"sync": new_sync_producer, "async": new_async_producer_adapter}
NO_DEADLINE = {
    CONNECT.name: "Sarama's constructors take no context",
    SEND.name: "neither SendMessage nor Input takes a context",
    CLOSE.name: "Close takes no context",
}


class SaramaSession:
    """`client.profiles.contract.ProfileSession`. Closing one producer leaves the others as they are."""

    def __init__(
        self,
        runtime: ClientRuntime,
        settings: Settings,
        bootstrap: Sequence[tuple[str, int]],
        *,
        producer: str | None = None,
    ) -> None:
        self.handles: Handles[Producer] = Handles("producer")
        self._runtime = runtime
        self._settings = settings
        self._bootstrap = bootstrap
        self._new_producer = PRODUCERS[producer or "sync"]

    @property
    def handlers(self) -> Mapping[str, Handler]:
        # Made anew: kept, they and the session would hold each other.
        return {
            CONNECT.name: CONNECT.handler(self._connect),
            SEND.name: SEND.handler(self._send),
            CLOSE.name: CLOSE.handler(self._close),
        }

    async def _connect(self, arguments: Connect, _: Context) -> Result:
        await self.handles.open(
            arguments.handle, lambda: self._new_producer(self._runtime, self._settings, self._bootstrap)
        )
        return {}

    async def _send(self, message: Send, context: Context) -> Result:
        found = await self.handles[message.handle].send(context.operation, message)
        return {"partition": found.partition, "offset": found.offset}

    async def _close(self, arguments: Close, _: Context) -> Result:
        await self.handles.close(arguments.handle)
        return {}
