"""The client under the producer: leaders and partitions by the metadata that it holds, refreshed when they lack.

Source: Shopify/sarama v1.27.2 client.go, IBM/sarama v1.60.1 client.go. Its other parts stand in registry,
metadata_refresh and single_flight.
"""

from collections.abc import Sequence

from client.errors import ClientError
from client.events import TraceKind
from client.golang import Channel, Receive, Ticker, select
from client.profiles.sarama.broker import Broker
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import ConfigurationError, is_kerror
from client.profiles.sarama.kerrors import CODES
from client.profiles.sarama.metadata_refresh import MetadataRefresh
from client.profiles.sarama.registry import BrokerRegistry
from client.profiles.sarama.single_flight import SingleFlightRefresher
from client.runtime import ClientRuntime

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


class Client:
    """Made by `new_client`. Methods raise ClientError."""

    def __init__(self, runtime: ClientRuntime, conf: Config, addrs: Sequence[tuple[str, int]]) -> None:
        self.conf = conf
        self.runtime = runtime
        self.registry = BrokerRegistry(runtime, conf, addrs)
        self._metadata = MetadataRefresh(runtime, conf, self.registry)
        self._refresh = self._metadata.refresh
        if conf.metadata_single_flight:
            self._refresh = SingleFlightRefresher(runtime, self._metadata.refresh).refresh
        self._closer: Channel[None] = Channel()
        self._closed: Channel[None] = Channel()

    def closed(self) -> bool:
        return self.registry.closed

    async def close(self) -> None:
        """Raises ErrClosedClient the second time. Connections are closed in the background."""
        await self._check_open()
        self._closer.close()
        await self._closed.receive()
        async with self.registry.lock.writing:
            self.registry.close()
            self._metadata.clear()

    async def partitions(self, topic: str) -> tuple[int, ...]:
        """Every partition of the topic, in order. Raises ErrUnknownTopicOrPartition where the topic is not known."""
        await self._check_open()
        known = self._metadata.topics.get(topic)
        if known is None or not known.partitions:
            await self.refresh_metadata(topic)
            known = self._metadata.topics.get(topic)
        if known is None or (not known.partitions and self.conf.release.empty_partitions_are_unknown):
            raise self.conf.errors.kerror("ErrUnknownTopicOrPartition")
        return known.partition_ids

    async def writable_partitions(self, topic: str) -> tuple[int, ...]:
        """The partitions that have a leader: maybe none."""
        await self._check_open()
        known = self._metadata.topics.get(topic)
        if known is None or not known.writable_ids:
            await self.refresh_metadata(topic)
            known = self._metadata.topics.get(topic)
        if known is None:
            raise self.conf.errors.kerror("ErrUnknownTopicOrPartition")
        return known.writable_ids

    async def leader(self, topic: str, partition_id: int) -> Broker:
        """The leader, its connection being opened; refreshes metadata where it is not known."""
        await self._check_open()
        try:
            return await self._cached_leader(topic, partition_id)
        except ClientError:
            await self.refresh_metadata(topic)
            return await self._cached_leader(topic, partition_id)

    async def refresh_metadata(self, *topics: str, purpose: str = "") -> None:
        """Ask for these topics, without any for all. `purpose` goes before that of each back-off in the trace."""
        await self._check_open()
        if not all(topics):
            raise self.conf.errors.kerror("ErrInvalidTopic")
        await self._refresh(topics, purpose)

    async def _check_open(self) -> None:
        await self.registry.lock.wait_until_readable()
        if self.registry.closed:
            raise self.conf.errors.sentinel("ErrClosedClient")

    async def _cached_leader(self, topic: str, partition_id: int) -> Broker:
        await self.registry.lock.wait_until_readable()
        known = self._metadata.topics.get(topic)
        if known is None or partition_id not in known.partitions:
            raise self.conf.errors.kerror("ErrUnknownTopicOrPartition")
        partition = known.partitions[partition_id]
        broker = self.registry.registered(partition.leader)
        if partition.error == _LEADER_NOT_AVAILABLE or broker is None:
            raise self.conf.errors.kerror("ErrLeaderNotAvailable")
        await broker.open()
        return broker

    def mark_updater_stopped(self) -> None:
        """There is no background updater for `close` to wait for."""
        self._closed.close()

    async def background_metadata_updater(self) -> None:
        if self.conf.metadata_refresh_frequency_s > 0:
            ticker = Ticker(self.conf.metadata_refresh_frequency_s)
            while (
                await select(self.runtime.rng, tick=Receive(ticker.channel), closed=Receive(self._closer))
            ).case == "tick":
                try:
                    await self._refresh_in_background()
                except ClientError as error:
                    self.runtime.tracer.emit(
                        TraceKind.STATE, purpose="background metadata update", outcome="failed", error=error.text
                    )
            ticker.stop()
        self._closed.close()

    async def _refresh_in_background(self) -> None:
        topics: tuple[str, ...] = ()
        if not self.conf.metadata_full:
            topics = tuple(self._metadata.known_topics)
            if not topics:
                raise self.conf.errors.sentinel("ErrNoTopicsToUpdateMetadata")
        await self.refresh_metadata(*topics, purpose="background ")


async def new_client(runtime: ClientRuntime, conf: Config, addrs: Sequence[tuple[str, int]]) -> Client:
    """A client with metadata of the cluster. Raises ClientError, ErrOutOfBrokers where no address answers."""
    conf.validate()
    if not addrs:
        raise ConfigurationError("You must provide at least one broker address")
    client = Client(runtime, conf, addrs)
    if conf.metadata_full:
        try:
            await client.refresh_metadata()
        except ClientError as error:
            if not is_kerror(error, _TOLERATED_AT_START):
                client.mark_updater_stopped()
                await client.close()
                raise
    runtime.tasks.go(client.background_metadata_updater(), "client/backgroundMetadataUpdater")
    return client
