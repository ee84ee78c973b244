"""The fields of a Writer and of a Transport as the code reads them, from the settings of either constructor.

Source: segmentio/kafka-go v0.4.8 writer.go (maxAttempts and so on, NewWriter), transport.go (dialTimeout and so on).
"""

from collections.abc import Callable
from dataclasses import dataclass

import lz4.frame

from client.limit import Limit
from client.profiles.kafka_go.net_dialer import (
    NetDialer,
    deadline_at,
    dialers_net_dialer,
    new_writers_net_dialer,
    programs_net_dialer,
)
from client.profiles.kafka_go.releases import Release, find_release
from client.profiles.kafka_go.settings import ACKS
from client.settings import Settings
from client.wire.compression import Compressor, gzip, lz4_frame, snappy_xerial, uncompressed, zstd

WRITER, NEW_WRITER, DIALER = "Writer", "NewWriter", "Dialer"
"""The two ways to a Writer: a struct literal on a Transport that the program made, and the deprecated function. And a
Dialer, whose connections a program uses as they are."""

DEFAULT_CLIENT_ID = "client@localhost (github.com/segmentio/kafka-go)"
"""DefaultClientID: upstream's has the names of the program and of its host. Source: conn.go (init)."""

_BACKOFF_MIN_S, _BACKOFF_MAX_S = 0.1, 1.0
_DIAL_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportConfig:
    """Limits carry their settings' names. `net_dialer` makes its dials, `resolver` is that of a Dialer."""

    release: Release
    net_dialer: NetDialer
    resolver: str
    dial_timeout: Limit
    idle_timeout_s: float
    metadata_ttl: Limit
    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DialerConfig:
    """A kafka.Dialer. `timeout_s` is 0 where it has none, `deadline_at` a moment of the loop's clock. `own` is what the
    program's DialFunc dials with, None where the Dialer's `net_dialer` does."""

    release: Release
    timeout_s: float
    deadline_at: float | None
    resolver: str
    net_dialer: NetDialer
    own: NetDialer | None
    tls: bool
    sasl_mechanism: str | None
    client_id: str
    transactional_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterConfig:
    """`backoff_*` are seconds; `backoff_settings` are the names that a pause is traced under."""

    release: Release
    balancer: str
    max_attempts: int
    batch_size: int
    batch_bytes: int
    batch_timeout: Limit
    write_timeout: Limit
    required_acks: int
    is_async: bool
    compressor: Compressor
    backoff_min_s: float
    backoff_max_s: float
    backoff_settings: tuple[str, ...]
    creates_topics: bool

    def backoff(self, attempt: int) -> Limit:
        """The pause before this attempt, counted from 0. Source: dialer.go (backoff)."""
        return Limit(min(attempt * attempt * self.backoff_min_s, self.backoff_max_s), self.backoff_settings)


def build_transport_config(settings: Settings, producer: str) -> TransportConfig:
    """`producer` says which constructor's settings are read."""
    if producer == NEW_WRITER:
        ttl, idle = "WriterConfig.RebalanceInterval", "WriterConfig.IdleConnTimeout"
        dial_timeout_s = _DIAL_TIMEOUT_S  # NewWriter does not set it
        client_id, resolver = settings.text("Dialer.ClientID"), settings.text("Dialer.Resolver")
        net_dialer = new_writers_net_dialer(settings)
    else:
        ttl, idle = "Transport.MetadataTTL", "Transport.IdleTimeout"
        dial_timeout_s = settings.seconds("Transport.DialTimeout")
        client_id, resolver = settings.text("Transport.ClientID"), ""
        net_dialer = programs_net_dialer(settings)
    return TransportConfig(
        release=find_release(settings.release),
        net_dialer=net_dialer,
        resolver=resolver,
        dial_timeout=Limit(dial_timeout_s, ("Transport.DialTimeout",)),
        idle_timeout_s=settings.seconds(idle),
        metadata_ttl=Limit(settings.seconds(ttl), (ttl,)),
        client_id=client_id,
    )


def build_dialer_config(settings: Settings) -> DialerConfig:
    """Called when the Dialer is made: its Deadline counts from now."""
    mechanism = settings.text("Dialer.SASLMechanism")
    return DialerConfig(
        release=find_release(settings.release),
        timeout_s=settings.seconds("Dialer.Timeout"),
        deadline_at=deadline_at(settings),
        resolver=settings.text("Dialer.Resolver"),
        net_dialer=dialers_net_dialer(settings),
        own=programs_net_dialer(settings) if settings.text("Dialer.DialFunc") == "own" else None,
        tls=settings.text("Dialer.TLS") != "nil",
        sasl_mechanism=None if mechanism == "nil" else mechanism,
        client_id=settings.text("Dialer.ClientID") or DEFAULT_CLIENT_ID,
        transactional_id=settings.text("Dialer.TransactionalID") or None,
    )


def build_writer_config(settings: Settings, producer: str) -> WriterConfig:
    """`producer` says which constructor's settings are read."""
    release = find_release(settings.release)
    group = "WriterConfig" if producer == NEW_WRITER else "Writer"
    codec = "none" if producer == NEW_WRITER else settings.text("Writer.Compression")
    configurable = _BACKOFF_MIN in settings and producer != NEW_WRITER
    least_s, most_s = backoff_bounds_s(settings) if configurable else (_BACKOFF_MIN_S, _BACKOFF_MAX_S)

    def limit(name: str) -> Limit:
        return Limit(settings.seconds(f"{group}.{name}"), (f"{group}.{name}",))

    return WriterConfig(
        release=release,
        balancer=settings.text(f"{group}.Balancer"),
        max_attempts=settings.count(f"{group}.MaxAttempts"),
        batch_size=settings.count(f"{group}.BatchSize"),
        batch_bytes=settings.count(f"{group}.BatchBytes"),
        batch_timeout=limit("BatchTimeout"),
        write_timeout=limit("WriteTimeout"),
        required_acks=_required_acks(settings, producer),
        is_async=settings.flag(f"{group}.Async"),
        compressor=_COMPRESSORS[codec](),
        backoff_min_s=least_s,
        backoff_max_s=most_s,
        # The pauses are constants in the older releases, and for NewWriter; how many there are is set.
        backoff_settings=(_BACKOFF_MIN, _BACKOFF_MAX) if configurable else (f"{group}.MaxAttempts",),
        creates_topics=release.creates_topics and producer != NEW_WRITER and settings.flag(_CREATES_TOPICS),
    )


def backoff_bounds_s(settings: Settings) -> tuple[float, float]:
    """The factor of a Writer's pauses and the longest of them: constants in the older releases."""
    if _BACKOFF_MIN not in settings:
        return _BACKOFF_MIN_S, _BACKOFF_MAX_S
    return settings.seconds(_BACKOFF_MIN), settings.seconds(_BACKOFF_MAX)


_BACKOFF_MIN, _BACKOFF_MAX = "Writer.WriteBackoffMin", "Writer.WriteBackoffMax"
_CREATES_TOPICS = "Writer.AllowAutoTopicCreation"

_COMPRESSORS: dict[str, Callable[[], Compressor]] = {
    "none": uncompressed,
    "gzip": gzip,
    "snappy": snappy_xerial,
    "lz4": lambda: lz4_frame(lz4.frame.BLOCKSIZE_MAX4MB),
    "zstd": zstd,
}


def _required_acks(settings: Settings, producer: str) -> int:
    if producer == NEW_WRITER:
        return settings.count("WriterConfig.RequiredAcks")
    return ACKS[settings.text("Writer.RequiredAcks")]
