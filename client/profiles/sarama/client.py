"""The client under the producer: bootstrap ("seed") brokers, registered brokers, metadata and how it is refreshed.

Source: Shopify/sarama v1.27.2 client.go. Upstream guards its maps with a lock; here nothing waits between reading and
writing them.
"""

import asyncio
from collections.abc import Sequence

from client.errors import ClientError
from client.events import Kind
from client.golang import Channel, Receive, Ticker, first_in_map, select, sleep
from client.metadata import Snapshot, Topic, snapshot_of
from client.net.dialer import Dialer
from client.profiles.sarama.broker import Broker
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import CODES, ConfigurationError, KError, PacketEncodingError, kerror, sentinel
from client.surroundings import Surroundings
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic

_NO_ERROR = CODES["ErrNoError"]
_LEADER_NOT_AVAILABLE = CODES["ErrLeaderNotAvailable"]
_TOLERATED_AT_START = frozenset(
    CODES[name]
    for name in (
        "ErrLeaderNotAvailable",
        "ErrReplicaNotAvailable",
        "ErrTopicAuthorizationFailed",
        "ErrClusterAuthorizationFailed",
    )
)
_FATAL = frozenset(CODES[name] for name in ("ErrSASLAuthenticationFailed", "ErrTopicAuthorizationFailed"))
_UNKNOWN_TOPIC = CODES["ErrUnknownTopicOrPartition"]


class Client:
    """Made by `new_client`. Methods raise ClientError."""

    def __init__(self, surroundings: Surroundings, conf: Config, addrs: Sequence[tuple[str, int]]) -> None:
        self.conf = conf
        self.surroundings = surroundings
        self._dialer = Dialer(surroundings, keep_alive_s=conf.keep_alive_s)
        self._closer: Channel[None] = Channel()
        self._closed: Channel[None] = Channel()
        self._seed_brokers = self._randomize_seed_brokers(addrs)
        self._dead_seeds: list[Broker] = []
        self._brokers: dict[int, Broker] | None = {}
        self._metadata: dict[str, Topic] = {}
        self._metadata_topics: dict[str, None] = {}

    def closed(self) -> bool:
        return self._brokers is None

    async def close(self) -> None:
        """Raises ErrClosedClient the second time. Connections are closed in the background."""
        if self._brokers is None:
            raise sentinel("ErrClosedClient")
        self._closer.close()
        await self._closed.receive()
        for broker in (*self._brokers.values(), *self._seed_brokers):
            self._safe_async_close(broker)
        self._brokers = None
        self._metadata = {}
        self._metadata_topics = {}

    async def partitions(self, topic: str) -> tuple[int, ...]:
        """Every partition of the topic, in order. Raises ErrUnknownTopicOrPartition where there is none."""
        self._check_open()
        known = self._metadata.get(topic)
        if known is None or not known.partitions:
            await self.refresh_metadata(topic)
            known = self._metadata.get(topic)
        if known is None or not known.partitions:
            raise kerror("ErrUnknownTopicOrPartition")
        return known.partition_ids

    async def writable_partitions(self, topic: str) -> tuple[int, ...]:
        """The partitions that have a leader: maybe none."""
        self._check_open()
        known = self._metadata.get(topic)
        if known is None or not known.writable_ids:
            await self.refresh_metadata(topic)
            known = self._metadata.get(topic)
        if known is None:
            raise kerror("ErrUnknownTopicOrPartition")
        return known.writable_ids

    async def leader(self, topic: str, partition_id: int) -> Broker:
        """The leader, its connection being opened; refreshes metadata where it is not known."""
        self._check_open()
        try:
            return await self._cached_leader(topic, partition_id)
        except ClientError:
            await self.refresh_metadata(topic)
            return await self._cached_leader(topic, partition_id)

    async def refresh_metadata(self, *topics: str, purpose: str = "") -> None:
        """Ask for these topics, without any for all. `purpose` goes before that of each back-off in the trace."""
        self._check_open()
        if not all(topics):
            raise kerror("ErrInvalidTopic")
        deadline_at = None
        if self.conf.metadata_timeout_s > 0:
            deadline_at = asyncio.get_running_loop().time() + self.conf.metadata_timeout_s
        await self._try_refresh_metadata(topics, self.conf.metadata_retry_max, deadline_at, purpose)

    # private broker management helpers

    def _check_open(self) -> None:
        if self._brokers is None:
            raise sentinel("ErrClosedClient")

    def _randomize_seed_brokers(self, addrs: Sequence[tuple[str, int]]) -> list[Broker]:
        shuffled = self.surroundings.rng.sample(list(addrs), len(addrs))
        return [self._new_broker(host, port, -1) for host, port in shuffled]

    def _new_broker(self, host: str, port: int, broker_id: int) -> Broker:
        return Broker(self.surroundings, self._dialer, self.conf, host, port, broker_id)

    def _safe_async_close(self, broker: Broker) -> None:
        async def close() -> None:
            if await broker.connected():
                await broker.close()

        self.surroundings.tasks.go(close(), f"broker/{broker.id}/safeAsyncClose")

    def _update_broker(self, snapshot: Snapshot) -> None:
        assert self._brokers is not None
        for node in snapshot.nodes:
            known = self._brokers.get(node.id)
            if known is not None and known.addr == (node.host, node.port):
                continue
            if known is not None:
                self._safe_async_close(known)
            self._brokers[node.id] = self._new_broker(node.host, node.port, node.id)
        current = {node.id for node in snapshot.nodes}
        for broker_id in tuple(self._brokers):
            if broker_id not in current:
                self._safe_async_close(self._brokers.pop(broker_id))

    def _deregister_broker(self, broker: Broker) -> None:
        """The first seed goes to the dead ones; any other broker is forgotten."""
        if self._seed_brokers and broker is self._seed_brokers[0]:
            self._dead_seeds.append(self._seed_brokers.pop(0))
        elif self._brokers is not None:
            self._brokers.pop(broker.id, None)
        self.surroundings.tracer.emit(
            Kind.STATE,
            purpose="broker",
            outcome="deregistered",
            broker=broker.id,
            address=f"{broker.host}:{broker.port}",
        )

    def _resurrect_dead_brokers(self) -> None:
        self._seed_brokers += self._dead_seeds
        self._dead_seeds = []

    async def _any(self) -> Broker | None:
        """The first seed while there is one, else a registered broker by the chance of a map's order."""
        broker = self._seed_brokers[0] if self._seed_brokers else None
        if broker is None and self._brokers:
            broker = first_in_map(self.surroundings.rng, self._brokers)
        if broker is not None:
            await broker.open()
        return broker

    async def _cached_leader(self, topic: str, partition_id: int) -> Broker:
        known = self._metadata.get(topic)
        if known is None or partition_id not in known.partitions:
            raise kerror("ErrUnknownTopicOrPartition")
        partition = known.partitions[partition_id]
        broker = (self._brokers or {}).get(partition.leader)
        if partition.error == _LEADER_NOT_AVAILABLE or broker is None:
            raise kerror("ErrLeaderNotAvailable")
        await broker.open()
        return broker

    # core metadata update logic

    def give_up_updating(self) -> None:
        """There is no background updater for `close` to wait for."""
        self._closed.close()

    async def background_metadata_updater(self) -> None:
        if self.conf.metadata_refresh_frequency_s > 0:
            ticker = Ticker(self.conf.metadata_refresh_frequency_s)
            while (await select(self.surroundings.rng, Receive(ticker.channel), Receive(self._closer))).place == 0:
                try:
                    await self._refresh_in_background()
                except ClientError as error:
                    self.surroundings.tracer.emit(
                        Kind.STATE, purpose="background metadata update", outcome="failed", error=error.text
                    )
            ticker.stop()
        self._closed.close()

    async def _refresh_in_background(self) -> None:
        topics: tuple[str, ...] = ()
        if not self.conf.metadata_full:
            topics = tuple(self._metadata_topics)
            if not topics:
                raise sentinel("ErrNoTopicsToUpdateMetadata")
        await self.refresh_metadata(*topics, purpose="background ")

    async def _try_refresh_metadata(
        self, topics: tuple[str, ...], attempts_remaining: int, deadline_at: float | None, purpose: str
    ) -> None:
        """Upstream calls itself for each retry; here it is a loop."""
        tracer = self.surroundings.tracer
        try_number = 1
        while True:
            tracer.emit(Kind.REFRESH_STARTED, try_number=try_number)
            try:
                should_retry, error = await self._ask_brokers(topics, deadline_at)
            except ClientError as fatal:
                tracer.emit(Kind.REFRESH_ENDED, try_number=try_number, outcome="failed", error=fatal.text)
                raise
            failed = {} if error is None else {"error": error.text}
            outcome = "failed" if should_retry or error is not None else "ok"
            tracer.emit(Kind.REFRESH_ENDED, try_number=try_number, outcome=outcome, **failed)
            backoff = self.conf.metadata_retry_backoff
            if not should_retry or attempts_remaining <= 0 or _past(deadline_at, backoff.seconds):
                if error is not None:
                    raise error
                return
            if backoff.seconds > 0:
                with tracer.sleeping(backoff.setting, backoff.seconds, f"{purpose}metadata back-off"):
                    await sleep(backoff.seconds)
            attempts_remaining -= 1
            try_number += 1

    async def _ask_brokers(self, topics: tuple[str, ...], deadline_at: float | None) -> tuple[bool, ClientError | None]:
        """One try: brokers one after the other until one answers. Whether to try again, and the error there is."""
        request = MetadataRequest(
            topics=tuple(MetadataRequestTopic(name=topic) for topic in topics) if topics else None,
            allow_auto_topic_creation=bool(topics),
        )
        version = 5 if self.conf.is_at_least(1, 0, 0) else 1
        broker = await self._any()
        while broker is not None and not _past(deadline_at, 0.0):
            try:
                response = await broker.get_metadata(request, version)
            except PacketEncodingError:
                raise
            except ClientError as error:
                if isinstance(error, KError) and error.code in _FATAL:
                    raise
                await broker.close()
                self._deregister_broker(broker)
                broker = await self._any()
                continue
            return self._update_metadata(snapshot_of(response), all_known_metadata=not topics)
        if broker is None:
            self._resurrect_dead_brokers()
        return True, sentinel("ErrOutOfBrokers")

    def _update_metadata(self, snapshot: Snapshot, *, all_known_metadata: bool) -> tuple[bool, ClientError | None]:
        """Take an answer in. Whether to ask again for want of leaders, and the topic's error there is."""
        if self._brokers is None:
            return False, None
        self._update_broker(snapshot)
        if all_known_metadata:
            self._metadata = {}
            self._metadata_topics = {}
        should_retry = False
        error: ClientError | None = None
        for topic in snapshot.topics:
            self._metadata_topics[topic.name] = None
            self._metadata.pop(topic.name, None)
            if topic.error in (_UNKNOWN_TOPIC, _LEADER_NOT_AVAILABLE):
                should_retry = True
            if topic.error not in (_NO_ERROR, _LEADER_NOT_AVAILABLE):  # do not store partial results
                error = KError(topic.error)
                continue
            self._metadata[topic.name] = topic
            if any(p.error == _LEADER_NOT_AVAILABLE for p in topic.partitions.values()):
                should_retry = True
        return should_retry, error


def _past(deadline_at: float | None, backoff_s: float) -> bool:
    return deadline_at is not None and asyncio.get_running_loop().time() + backoff_s > deadline_at


async def new_client(surroundings: Surroundings, conf: Config, addrs: Sequence[tuple[str, int]]) -> Client:
    """A client with metadata of the cluster. Raises ClientError, ErrOutOfBrokers where no address answers."""
    conf.validate()
    if not addrs:
        raise ConfigurationError("You must provide at least one broker address")
    client = Client(surroundings, conf, addrs)
    if conf.metadata_full:
        try:
            await client.refresh_metadata()
        except ClientError as error:
            if not (isinstance(error, KError) and error.code in _TOLERATED_AT_START):
                client.give_up_updating()
                await client.close()
                raise
    surroundings.tasks.go(client.background_metadata_updater(), "client/backgroundMetadataUpdater")
    return client
