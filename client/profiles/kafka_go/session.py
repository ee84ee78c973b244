"""The program around Writers, by name.

Those made as Writer{} share the program's Transport, until it makes a new one for those that follow. NewWriter makes
one of its own.
"""

from collections.abc import Mapping, Sequence

from client.operations import (
    CLOSE,
    CLOSE_IDLE,
    CONNECT,
    CREATE_TOPICS,
    LIST_OFFSETS,
    NEW_TRANSPORT,
    SEND,
    Close,
    CloseIdle,
    Connect,
    Context,
    CreateTopics,
    Handler,
    Handles,
    ListOffsets,
    NewTransport,
    Result,
    Send,
)
from client.profiles.contract import Address, ProfileSession
from client.profiles.kafka_go.batch import Message
from client.profiles.kafka_go.bounded import calling
from client.profiles.kafka_go.client import Client
from client.profiles.kafka_go.config import (
    DIALER,
    NEW_WRITER,
    WRITER,
    build_transport_config,
    build_writer_config,
)
from client.profiles.kafka_go.dialer_session import DialerSession
from client.profiles.kafka_go.errors import GoError
from client.profiles.kafka_go.transport import Transport
from client.profiles.kafka_go.writer import Writer
from client.runtime import ClientRuntime
from client.settings import Settings
from client.wire.apis.list_offsets import LATEST

PRODUCERS = (WRITER, NEW_WRITER, DIALER)
NO_DEADLINE = {
    CONNECT.name: "neither Writer{} nor NewWriter nor Dialer{} takes a context",
    CLOSE.name: "Close takes no context",
    CLOSE_IDLE.name: "CloseIdleConnections takes no context",
    NEW_TRANSPORT.name: "a Transport is made without a context",
}


class Writers:
    """What a handle stands for. A Writer of v0.4.8 has one topic, so that there is one for each topic there; later
    ones take the topic of the message, and there is one, under the name ""."""

    def __init__(self, session: "WriterSession", transport: Transport) -> None:
        self.transport = transport
        self._session = session
        self._by_topic: dict[str, Writer] = {}

    def writer(self, topic: str) -> Writer:
        """The Writer of a topic, made on first use."""
        name = "" if self.transport.conf.release.topics_of_messages else topic
        if name not in self._by_topic:
            self._by_topic[name] = self._session.new_writer(self.transport)
        return self._by_topic[name]

    async def close(self) -> None:
        """Close its Writers, and the Transport where it is theirs alone."""
        for writer in self._by_topic.values():
            await writer.close()
        self._session.writers_closed(self)


class WriterSession:
    """`client.profiles.contract.ProfileSession`."""

    def __init__(
        self,
        runtime: ClientRuntime,
        settings: Settings,
        bootstrap: Sequence[Address],
        *,
        producer: str,
    ) -> None:
        self.handles: Handles[Writers] = Handles("producer")
        self._runtime = runtime
        self._settings = settings
        self._bootstrap = tuple(bootstrap)
        self._producer = producer
        self._transports = [self._new_transport()]

    @property
    def handlers(self) -> Mapping[str, Handler]:
        # Made anew: kept, they and the session would hold each other.
        of_writers = {NEW_TRANSPORT.name: NEW_TRANSPORT.handler(self._add_transport)}
        return {
            CONNECT.name: CONNECT.handler(self._connect),
            SEND.name: SEND.handler(self._send),
            CLOSE_IDLE.name: CLOSE_IDLE.handler(self._close_idle),
            CREATE_TOPICS.name: CREATE_TOPICS.handler(self._create_topics),
            LIST_OFFSETS.name: LIST_OFFSETS.handler(self._list_offsets),
            **({} if self._producer == NEW_WRITER else of_writers),  # it makes a Transport for each Writer
            CLOSE.name: CLOSE.handler(self._close),
        }

    def new_writer(self, transport: Transport) -> Writer:
        conf = build_writer_config(self._settings, self._producer)
        return Writer(self._runtime, conf, transport, self._bootstrap)

    def writers_closed(self, writers: Writers) -> None:
        """Close of a Writer that NewWriter made closes what is idle on its Transport."""
        if writers.transport not in self._transports:
            writers.transport.close_idle_connections()

    def _new_transport(self) -> Transport:
        return Transport(self._runtime, build_transport_config(self._settings, self._producer))

    async def _connect(self, arguments: Connect, _: Context) -> Result:
        async def new_writers() -> Writers:
            if self._producer == NEW_WRITER and not self._bootstrap:
                raise GoError("errors.errorString", "cannot create a kafka writer with an empty list of brokers")
            return Writers(self, self._new_transport() if self._producer == NEW_WRITER else self._transports[-1])

        await self.handles.open(arguments.handle, new_writers)
        return {}

    async def _send(self, asked: Send, context: Context) -> Result:
        writer = self.handles[asked.handle].writer(asked.topic)
        message = Message(
            operation=context.operation, topic=asked.topic, key=asked.key, value=asked.value, partition=asked.partition
        )
        with calling(context) as bounded:
            await writer.write_message(bounded, message)
        if message.written_at is None or writer.conf.is_async:
            return {}
        partition, offset = message.written_at
        return {"partition": partition, "offset": offset}

    async def _close_idle(self, asked: CloseIdle, _: Context) -> Result:
        self.handles[asked.handle].transport.close_idle_connections()
        return {}

    async def _add_transport(self, asked: NewTransport, _: Context) -> Result:
        self.handles[asked.handle]
        self._transports.append(self._new_transport())
        return {}

    async def _create_topics(self, asked: CreateTopics, context: Context) -> Result:
        with calling(context) as bounded:
            created = await self._client(asked.handle).create_topics(
                bounded, asked.topic, partitions=asked.partitions, replication=asked.replication
            )
        error = created.get(asked.topic)
        if error is not None:
            raise error
        return {}

    async def _list_offsets(self, asked: ListOffsets, context: Context) -> Result:
        with calling(context) as bounded:
            found = await self._client(asked.handle).list_offsets(bounded, asked.topic, range(asked.partitions), LATEST)
        texts = (f"{index}:{one.name if isinstance(one, GoError) else one}" for index, one in sorted(found.items()))
        return {"offsets": " ".join(texts)}

    def _client(self, handle: str) -> Client:
        """A Client on the Transport of the handle's Writers, without a Timeout."""
        return Client(self.handles[handle].transport, self._bootstrap)

    async def _close(self, arguments: Close, _: Context) -> Result:
        await self.handles.close(arguments.handle)
        if self.handles.closed:
            for transport in self._transports:  # the program ends
                transport.close_idle_connections()
        return {}


def open_session(
    runtime: ClientRuntime, settings: Settings, bootstrap: Sequence[Address], *, producer: str | None = None
) -> ProfileSession:
    """`client.profiles.contract.OpenSession`."""
    if producer == DIALER:
        return DialerSession(runtime, settings, bootstrap)
    return WriterSession(runtime, settings, bootstrap, producer=producer or WRITER)
