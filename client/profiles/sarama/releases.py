"""Releases of Sarama that the profile reproduces: one row a release, one field an upstream change.

Each field says what the change does, where it stands in the source, and the pull request where the changelog names it.
A release that is not here is refused: neighbours differ in just what the lab measures.
"""

from collections.abc import Callable
from dataclasses import dataclass

import lz4.frame

from client.errors import SettingError
from client.profiles.sarama.errors import ERRORS_1_27, ERRORS_1_60, ErrorCatalog
from client.wire.compression import Compressor, snappy_raw, snappy_xerial

VersionTable = tuple[tuple[tuple[int, ...], int], ...]
"""From a Kafka version on, a version of the request; newest first. Source: `conf.Version.IsAtLeast`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """`source` names repository and tag; `default_kafka_version` is DefaultVersion and `kafka_versions` what it calls
    SupportedVersions, as far as they have record batches (Kafka 0.11 and later)."""

    version: str
    source: str
    default_kafka_version: str
    kafka_versions: tuple[str, ...]
    errors: ErrorCatalog

    # Requests
    metadata_versions: VersionTable
    """metadata_request.go, NewMetadataRequest (#2388, #2566); before: client.go, tryRefreshMetadata."""
    produce_versions: VersionTable
    """produce_set.go, buildRequest (#2546, #3540)."""
    zstd_produce_version: int | None
    """Asked for only where batches are compressed by zstd; None: the table says it all. produce_set.go."""
    init_producer_id_versions: VersionTable
    """transaction_manager.go, initProducerId; before: client.go, InitProducerID."""
    api_versions_versions: VersionTable
    """An ApiVersionsRequest goes out on every Open (KIP-511), and versions are then restricted to what the broker
    speaks. Empty: none is sent. broker.go, Open; api_versions.go (#3234)."""
    snappy: Callable[[], Compressor]
    """compress.go: raw blocks, later the Java clients' frame (#3421)."""
    lz4_block_size: int
    """compress.go (#3258)."""
    lowest_gzip_level: int
    """What NewWriterLevel of the gzip package takes. config.go, Validate."""
    sets_max_timestamp: bool
    """A batch says its highest time instead of -1. produce_set.go, buildRequest."""

    # broker.go
    holds_lock_until_response: bool
    """sendAndReceive keeps the broker's lock until the answer is there: other senders, `close` and `response_size` wait
    as long."""
    closes_broken_connections: bool
    """sendAndReceive closes a connection on any transport error but a time-out. maybeCloseLocked (#3412)."""
    close_aborts_reads: bool
    """Close closes the socket before it waits for requests in flight, which end at once, and drops the error of the
    last dial. closeLocked (#3412)."""
    limits_reads_on_tls_write: bool
    """With TLS a write sets ReadTimeout for reads as well, since the handshake reads; before, nothing ended a handshake
    that was never answered. write (#3283)."""
    authenticates_through_receiver: bool
    """The SASL exchange of version 1 is made of ordinary requests, whose answers responseReceiver reads. Open
    (#2234)."""
    wraps_sasl_refusals: bool
    """A refusal with a message is wrapped around it, and is no KError any more. authenticateViaSASLv1 (#2164)."""
    sasl_authenticate_versions: VersionTable
    """createSaslAuthenticateRequest (#2197, #3551)."""
    honors_throttling: bool
    """After an answer with a throttle time the next request waits that long. handleThrottledResponse (#2826)."""

    # client.go
    prefers_registered_brokers: bool
    """LeastLoadedBroker: registered brokers before seeds, the one with the fewest waiting answers; before: `any`, seeds
    first. And deregisterBroker looks among the registered ones first (#2645)."""
    rejects_empty_metadata: bool
    """An answer that names no broker counts as that broker's failure. tryRefreshMetadata (#2672)."""
    skips_retry_if_refreshed: bool
    """After the back-off a retry is left out where another refresh has just succeeded. tryRefreshMetadata (#2256)."""
    wraps_broker_errors: bool
    """ErrOutOfBrokers carries the failure of each broker; errors of topics name their topic, and a partition
    without a leader is one. tryRefreshMetadata, updateMetadata (#3525, #3532)."""
    checks_sockets: bool
    """After a metadata answer, connections for which the kernel has an error are closed. updateMetadata,
    checkBrokersHealth."""
    empty_partitions_are_unknown: bool
    """Partitions() of a topic that has none, even after a refresh, is an error. Partitions; later: getPartitions."""

    # async_producer.go
    pipelines_requests: bool
    """Requests go out while others are in flight (AsyncProduce), a partition is muted while a batch of it is (#3422);
    a network error refreshes metadata before a batch is retried or fails, and retries go from batch to broker
    (handleError, retryBatch). Before: one request at a time, and every retried message goes through the pipeline."""
    returns_early_fin: bool
    """A fin that arrives before its brokerProducer has a reason to retry is sent back too; before, it was sent to the
    broker as a message. run."""
    finds_leader_before_fin: bool
    """A new retry level looks for a broker where none is chosen; before, the program died there. dispatch (#2387)."""
    assigns_sequence_on_flush: bool
    """Messages that waited for a retry to end get their sequence numbers then. flushRetryBuffers."""
    renews_producer_id_on_epoch_exhaustion: bool
    """After the highest epoch the producer asks for a new producer id. bumpIdempotentProducerEpoch."""
    retries_init_producer_id: bool
    """InitProducerID is retried Producer.Transaction.Retry.Max times on any broker; before: once on each broker, and
    without one left the program panicked. transaction_manager.go, initProducerId (#2295)."""
    reports_message_size: bool
    """A message that is too large fails as ConfigurationError with both sizes. dispatcher."""
    retriable_kerrors: tuple[str, ...]
    """Answers upon which a batch is tried again. handleSuccess (#2939)."""

    @property
    def sends_api_versions_request(self) -> bool:
        return bool(self.api_versions_versions)


_RETRIABLE = (
    "ErrInvalidMessage", "ErrUnknownTopicOrPartition", "ErrLeaderNotAvailable", "ErrNotLeaderForPartition",
    "ErrRequestTimedOut", "ErrNotEnoughReplicas", "ErrNotEnoughReplicasAfterAppend",
)  # fmt: skip

_V1_27_2 = Release(
    version="1.27.2",
    source="Shopify/sarama v1.27.2",
    default_kafka_version="1.0.0",
    kafka_versions=(
        "0.11.0.0", "0.11.0.1", "0.11.0.2", "1.0.0", "1.1.0", "1.1.1", "2.0.0", "2.0.1", "2.1.0", "2.2.0", "2.3.0",
        "2.4.0", "2.5.0", "2.6.0",
    ),
    errors=ERRORS_1_27,
    metadata_versions=(((1, 0, 0), 5), ((0, 10, 0), 1)),
    produce_versions=(((0, 11, 0), 3),),
    zstd_produce_version=7,
    init_producer_id_versions=(((0, 11, 0), 0),),
    api_versions_versions=(),
    snappy=snappy_raw,
    lz4_block_size=lz4.frame.BLOCKSIZE_MAX4MB,
    lowest_gzip_level=-2,
    sets_max_timestamp=False,
    holds_lock_until_response=False,
    closes_broken_connections=False,
    close_aborts_reads=False,
    limits_reads_on_tls_write=False,
    authenticates_through_receiver=False,
    wraps_sasl_refusals=False,
    sasl_authenticate_versions=(((0,), 0),),
    honors_throttling=False,
    prefers_registered_brokers=False,
    rejects_empty_metadata=False,
    skips_retry_if_refreshed=False,
    wraps_broker_errors=False,
    checks_sockets=False,
    empty_partitions_are_unknown=True,
    pipelines_requests=False,
    returns_early_fin=False,
    finds_leader_before_fin=False,
    assigns_sequence_on_flush=False,
    renews_producer_id_on_epoch_exhaustion=False,
    retries_init_producer_id=False,
    reports_message_size=False,
    retriable_kerrors=_RETRIABLE,
)  # fmt: skip

_V1_60_1 = Release(
    version="1.60.1",
    source="IBM/sarama v1.60.1",
    default_kafka_version="2.8.0",
    kafka_versions=(
        "0.11.0.0", "0.11.0.1", "0.11.0.2", "1.0.0", "1.0.1", "1.0.2", "1.1.0", "1.1.1", "2.0.0", "2.0.1", "2.1.0",
        "2.1.1", "2.2.0", "2.2.1", "2.2.2", "2.3.0", "2.3.1", "2.4.0", "2.4.1", "2.5.0", "2.5.1", "2.6.0", "2.6.1",
        "2.6.2", "2.6.3", "2.7.0", "2.7.1", "2.7.2", "2.8.0", "2.8.1", "2.8.2", "3.0.0", "3.0.1", "3.0.2", "3.1.0",
        "3.1.1", "3.1.2", "3.2.0", "3.2.1", "3.2.2", "3.2.3", "3.3.0", "3.3.1", "3.3.2", "3.4.0", "3.4.1", "3.5.0",
        "3.5.1", "3.5.2", "3.6.0", "3.6.1", "3.6.2", "3.7.0", "3.7.1", "3.7.2", "3.8.0", "3.8.1", "3.9.0", "3.9.1",
        "3.9.2", "4.0.0", "4.0.1", "4.1.0", "4.1.1", "4.1.2", "4.2.0", "4.2.1", "4.3.0", "4.3.1",
    ),
    errors=ERRORS_1_60,
    metadata_versions=(
        ((2, 8), 11), ((2, 4), 9), ((2, 3), 8), ((2, 1), 7), ((2, 0), 6), ((1, 0), 5), ((0, 11), 4),
    ),
    produce_versions=(
        ((3, 7), 10), ((2, 8), 9), ((2, 4), 8), ((2, 1), 7), ((2, 0), 6), ((1, 0), 5), ((0, 11), 3),
    ),
    zstd_produce_version=None,
    init_producer_id_versions=(((2, 7), 4), ((2, 5), 3), ((2, 4), 2), ((2, 0), 1), ((0, 11), 0)),
    api_versions_versions=(((3, 9), 4), ((0, 11), 3)),
    snappy=snappy_xerial,
    lz4_block_size=lz4.frame.BLOCKSIZE_MAX64KB,
    lowest_gzip_level=-3,
    sets_max_timestamp=True,
    holds_lock_until_response=True,
    closes_broken_connections=True,
    close_aborts_reads=True,
    limits_reads_on_tls_write=True,
    authenticates_through_receiver=True,
    wraps_sasl_refusals=True,
    sasl_authenticate_versions=(((2, 5), 2), ((2, 2), 1), ((0,), 0)),
    honors_throttling=True,
    prefers_registered_brokers=True,
    rejects_empty_metadata=True,
    skips_retry_if_refreshed=True,
    wraps_broker_errors=True,
    checks_sockets=True,
    empty_partitions_are_unknown=False,
    pipelines_requests=True,
    returns_early_fin=True,
    finds_leader_before_fin=True,
    assigns_sequence_on_flush=True,
    renews_producer_id_on_epoch_exhaustion=True,
    retries_init_producer_id=True,
    reports_message_size=True,
    retriable_kerrors=(*_RETRIABLE, "ErrKafkaStorageError"),
)  # fmt: skip

RELEASES = {release.version: release for release in (_V1_27_2, _V1_60_1)}
"""By version, oldest first."""


def find_release(version: str) -> Release:
    """Raises SettingError for a version that is not reproduced."""
    try:
        return RELEASES[version]
    except KeyError:
        raise SettingError("version", f"sarama {version} is not reproduced, only {', '.join(RELEASES)}") from None


def request_version(table: VersionTable, version: tuple[int, ...]) -> int:
    """The request's version for this Kafka version."""
    return next(request for since, request in table if version >= since)
