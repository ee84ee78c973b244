"""Sarama's configuration as the code reads it.

Source: Shopify/sarama v1.27.2 config.go, IBM/sarama v1.60.1 config.go.
"""

from dataclasses import dataclass, field

from client.limit import Limit
from client.profiles.sarama.conflicts import conflicts
from client.profiles.sarama.errors import ErrorCatalog
from client.profiles.sarama.releases import Release, find_release, request_version
from client.profiles.sarama.settings import ACKS, CREDENTIALS, LEVEL_DEFAULT
from client.security.scram import DIGESTS
from client.settings import Conflict, Settings
from client.wire.compression import Compressor, gzip, lz4_frame, uncompressed, zstd

_GO_KEEP_ALIVE_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslConfig:
    """Net.SASL, where it is enabled."""

    mechanism: str
    version: int
    handshake: bool
    auth_identity: str
    scram_authz_id: str
    user: str
    password: str = field(repr=False)

    @property
    def scram(self) -> bool:
        return self.mechanism in DIGESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Limits carry their setting's name, so that waits can be traced by it. `*_version` are those of requests."""

    release: Release
    version: tuple[int, ...]
    metadata_version: int
    produce_version: int
    init_producer_id_version: int
    api_versions_version: int | None
    """None: no ApiVersionsRequest is sent."""

    max_open_requests: int
    dial: Limit
    read: Limit
    write: Limit
    keep_alive_s: float | None
    tls: bool
    sasl: SaslConfig | None
    """None: SASL is not enabled."""
    sasl_authenticate_version: int

    metadata_retry_max: int
    metadata_retry_backoff: Limit
    metadata_refresh_frequency_s: float
    metadata_full: bool
    metadata_timeout_s: float
    metadata_allow_auto_topic_creation: bool
    metadata_single_flight: bool

    max_message_bytes: int
    required_acks: int
    timeout_ms: int
    compression: str
    compression_level: int
    compressor: Compressor
    partitioner: str
    idempotent: bool
    transaction_retry_max: int
    transaction_retry_backoff: Limit
    flush_bytes: int
    flush_messages: int
    flush_frequency: Limit
    flush_max_messages: int
    retry_max: int
    retry_backoff: Limit
    retry_max_buffer_length: int
    retry_max_buffer_bytes: int
    client_id: str
    channel_buffer_size: int

    @property
    def errors(self) -> ErrorCatalog:
        return self.release.errors

    def is_at_least(self, *version: int) -> bool:
        """`conf.Version.IsAtLeast`."""
        return self.version >= version

    def validate(self) -> None:
        """Raises ConfigurationError."""
        for conflict in conflicts(self):
            raise conflict.error


def build_config(settings: Settings) -> Config:
    """The typed configuration of resolved settings."""
    release = find_release(settings.release)
    version = tuple(int(part) for part in settings.text("Version").split("."))
    compression = settings.text("Producer.Compression")
    level = settings.count("Producer.CompressionLevel")

    def limit(name: str) -> Limit:
        return Limit(settings.seconds(name), (name,))

    # What a release does not have is what the code did before there was a setting for it.
    def flag(name: str, *, if_absent: bool) -> bool:
        return settings.flag(name) if name in settings else if_absent

    def count(name: str) -> int:
        return settings.count(name) if name in settings else 0

    produce_version = request_version(release.produce_versions, version)
    if compression == "zstd" and release.zstd_produce_version is not None:
        produce_version = release.zstd_produce_version
    api_versions_version = None
    if flag("ApiVersionsRequest", if_absent=False):
        api_versions_version = request_version(release.api_versions_versions, version)
    keep_alive_s = settings.seconds("Net.KeepAlive")
    transaction_backoff = "Producer.Transaction.Retry.Backoff"
    return Config(
        release=release,
        version=version,
        metadata_version=request_version(release.metadata_versions, version),
        produce_version=produce_version,
        init_producer_id_version=request_version(release.init_producer_id_versions, version),
        api_versions_version=api_versions_version,
        max_open_requests=settings.count("Net.MaxOpenRequests"),
        dial=limit("Net.DialTimeout"),
        read=limit("Net.ReadTimeout"),
        write=limit("Net.WriteTimeout"),
        keep_alive_s=None if keep_alive_s < 0 else keep_alive_s or _GO_KEEP_ALIVE_S,
        tls=settings.flag("Net.TLS.Enable"),
        sasl=_sasl(settings) if settings.flag("Net.SASL.Enable") else None,
        sasl_authenticate_version=request_version(release.sasl_authenticate_versions, version),
        metadata_retry_max=settings.count("Metadata.Retry.Max"),
        metadata_retry_backoff=limit("Metadata.Retry.Backoff"),
        metadata_refresh_frequency_s=settings.seconds("Metadata.RefreshFrequency"),
        metadata_full=settings.flag("Metadata.Full"),
        metadata_timeout_s=settings.seconds("Metadata.Timeout"),
        metadata_allow_auto_topic_creation=flag("Metadata.AllowAutoTopicCreation", if_absent=True),
        metadata_single_flight=flag("Metadata.SingleFlight", if_absent=False),
        max_message_bytes=settings.count("Producer.MaxMessageBytes"),
        required_acks=ACKS[settings.text("Producer.RequiredAcks")],
        timeout_ms=int(settings.seconds("Producer.Timeout") * 1000),
        compression=compression,
        compression_level=level,
        compressor=_compressor(release, compression, level),
        partitioner=settings.text("Producer.Partitioner"),
        idempotent=settings.flag("Producer.Idempotent"),
        transaction_retry_max=count("Producer.Transaction.Retry.Max"),
        transaction_retry_backoff=(
            limit(transaction_backoff) if transaction_backoff in settings else Limit(0.0, (transaction_backoff,))
        ),
        flush_bytes=settings.count("Producer.Flush.Bytes"),
        flush_messages=settings.count("Producer.Flush.Messages"),
        flush_frequency=limit("Producer.Flush.Frequency"),
        flush_max_messages=settings.count("Producer.Flush.MaxMessages"),
        retry_max=settings.count("Producer.Retry.Max"),
        retry_backoff=limit("Producer.Retry.Backoff"),
        retry_max_buffer_length=count("Producer.Retry.MaxBufferLength"),
        retry_max_buffer_bytes=count("Producer.Retry.MaxBufferBytes"),
        client_id=settings.text("ClientID"),
        channel_buffer_size=settings.count("ChannelBufferSize"),
    )


def _sasl(settings: Settings) -> SaslConfig:
    return SaslConfig(
        mechanism=settings.text("Net.SASL.Mechanism"),
        version=settings.count("Net.SASL.Version"),
        handshake=settings.flag("Net.SASL.Handshake"),
        auth_identity=settings.text("Net.SASL.AuthIdentity"),
        scram_authz_id=settings.text("Net.SASL.SCRAMAuthzID"),
        user=settings.text(CREDENTIALS[0]),
        password=settings.text(CREDENTIALS[1]),
    )


def _compressor(release: Release, codec: str, level: int) -> Compressor:
    """Go's packages and C's libraries compress differently; both read what the other writes."""
    if codec == "gzip":
        return gzip(-1 if level == LEVEL_DEFAULT else 1 if level == -3 else level)
    if codec == "snappy":
        return release.snappy()
    if codec == "lz4":
        return lz4_frame(release.lz4_block_size)
    if codec == "zstd":
        return zstd() if level == LEVEL_DEFAULT else zstd(min(max(level, 1), 22))
    return uncompressed()


def find_conflicts(settings: Settings) -> tuple[Conflict, ...]:
    """Why Validate would refuse them though each value by itself is right."""
    return tuple(conflicts(build_config(settings)))
