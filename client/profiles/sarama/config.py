"""Sarama's configuration: names, defaults and the checks of Validate, in its words.

Source: Shopify/sarama v1.27.2 config.go. Left out: what only consumers and the admin client read, and
Producer.Return.*, which a SyncProducer demands to be true.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from client.net.connection import Limit
from client.profiles.sarama.errors import ConfigurationError
from client.profiles.sarama.releases import RELEASES
from client.settings import Setting, Settings, SettingsTable, SettingValue

_Check = Callable[[SettingValue], str | None]

_ACKS = {"NoResponse": 0, "WaitForLocal": 1, "WaitForAll": -1}
_VALID_ID = re.compile(r"\A[A-Za-z0-9._-]+\Z")
_VERSIONS = tuple(dict.fromkeys(version for release in RELEASES.values() for version in release.versions))


def _refused(text: str) -> str:
    return ConfigurationError(text).text


def _above_zero(name: str) -> _Check:
    return lambda value: _refused(f"{name} must be > 0") if _number(value) <= 0 else None


def _not_negative(name: str) -> _Check:
    return lambda value: _refused(f"{name} must be >= 0") if _number(value) < 0 else None


def _number(value: SettingValue) -> float:
    return 0.0 if isinstance(value, str) else float(value)


def _client_id(value: SettingValue) -> str | None:
    return None if _VALID_ID.match(str(value)) else _refused("ClientID is invalid")


def _only_false(what: str) -> _Check:
    return lambda value: f"{what} is not reproduced yet: only false" if value else None


def _duration(name: str, default_s: float, about: str, check: _Check | None = None) -> Setting:
    return Setting(name=name, kind="duration", default=default_s, about=about, check=check)


def _count(name: str, default: int, about: str, check: _Check) -> Setting:
    return Setting(name=name, kind="count", default=default, about=about, check=check)


def _flag(name: str, default: bool, about: str, check: _Check | None = None) -> Setting:
    return Setting(name=name, kind="flag", default=default, about=about, check=check)


SETTINGS = SettingsTable(
    "sarama",
    (
        _count(
            "Net.MaxOpenRequests", 5, "unanswered requests a connection", _above_zero("Net.MaxOpenRequests")
        ),
        _duration("Net.DialTimeout", 30.0, "how long a dial may take", _above_zero("Net.DialTimeout")),
        _duration("Net.ReadTimeout", 30.0, "how long a response may take", _above_zero("Net.ReadTimeout")),
        _duration("Net.WriteTimeout", 30.0, "how long the kernel may take a request", _above_zero("Net.WriteTimeout")),
        _flag("Net.TLS.Enable", default=False, about="TLS", check=_only_false("TLS")),
        _flag("Net.SASL.Enable", default=False, about="SASL", check=_only_false("SASL")),
        _duration("Net.KeepAlive", 0.0, "period of TCP keep-alives; 0: Go's 15 s, negative: none"),
        _count(
            "Metadata.Retry.Max", 3, "tries after the first of a metadata refresh", _not_negative("Metadata.Retry.Max")
        ),
        _duration("Metadata.Retry.Backoff", 0.25, "pause before each of them", _not_negative("Metadata.Retry.Backoff")),
        _duration(
            "Metadata.RefreshFrequency",
            600.0,
            "period of the refresh in the background; 0: none",
            _not_negative("Metadata.RefreshFrequency"),
        ),
        _flag("Metadata.Full", default=True, about="metadata of all topics, or only of those in use"),
        _duration("Metadata.Timeout", 0.0, "how long a metadata refresh may take with its retries; 0: no limit"),
        _count(
            "Producer.MaxMessageBytes", 1_000_000, "largest message", _above_zero("Producer.MaxMessageBytes")
        ),
        Setting(
            name="Producer.RequiredAcks",
            kind="choice",
            default="WaitForLocal",
            about="who must have a message before the broker answers",
            choices=tuple(_ACKS),
        ),
        _duration(
            "Producer.Timeout",
            10.0,
            "how long the broker may wait for its followers: a field of the request, no timer of the client",
            _above_zero("Producer.Timeout"),
        ),
        Setting(
            name="Producer.Compression", kind="choice", default="none", about="codec of batches", choices=("none",)
        ),
        Setting(
            name="Producer.Partitioner",
            kind="choice",
            default="hash",
            about="who chooses the partition of a message that names none",
            choices=("hash", "random", "roundrobin"),
        ),
        _flag("Producer.Idempotent", default=False, about="idempotence", check=_only_false("the idempotent producer")),
        _count("Producer.Flush.Bytes", 0, "bytes that trigger a flush", _not_negative("Producer.Flush.Bytes")),
        _count("Producer.Flush.Messages", 0, "messages that trigger a flush", _not_negative("Producer.Flush.Messages")),
        _duration(
            "Producer.Flush.Frequency", 0.0, "time that triggers a flush", _not_negative("Producer.Flush.Frequency")
        ),
        _count(
            "Producer.Flush.MaxMessages",
            0,
            "most messages in a request; 0: no limit",
            _not_negative("Producer.Flush.MaxMessages"),
        ),
        _count("Producer.Retry.Max", 3, "tries of a message after the first", _not_negative("Producer.Retry.Max")),
        _duration("Producer.Retry.Backoff", 0.1, "pause before each of them", _not_negative("Producer.Retry.Backoff")),
        Setting(
            name="ClientID", kind="text", default="sarama", about="name in every request", check=_client_id
        ),
        _count("ChannelBufferSize", 256, "messages in each internal channel", _not_negative("ChannelBufferSize")),
        Setting(
            name="Version", kind="choice", default="1.0.0", about="Kafka version that is assumed", choices=_VERSIONS
        ),
    ),
)  # fmt: skip
"""Every setting of the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings as the code reads them. Limits carry their setting's name, so that waits can be traced by it."""

    max_open_requests: int
    dial: Limit
    read: Limit
    write: Limit
    keep_alive_s: float | None
    metadata_retry_max: int
    metadata_retry_backoff: Limit
    metadata_refresh_frequency_s: float
    metadata_full: bool
    metadata_timeout_s: float
    max_message_bytes: int
    required_acks: int
    timeout_ms: int
    partitioner: str
    flush_bytes: int
    flush_messages: int
    flush_frequency: Limit
    flush_max_messages: int
    retry_max: int
    retry_backoff: Limit
    client_id: str
    channel_buffer_size: int
    version: tuple[int, ...]

    def is_at_least(self, *version: int) -> bool:
        """`conf.Version.IsAtLeast`."""
        return self.version >= version

    def validate(self) -> None:
        """What Validate checks of several settings together. Raises ConfigurationError."""
        if 0 < self.flush_max_messages < self.flush_messages:
            raise ConfigurationError("Producer.Flush.MaxMessages must be >= Producer.Flush.Messages when set")


_GO_KEEP_ALIVE_S = 15.0


def config_of(settings: Settings) -> Config:
    """The typed configuration of resolved settings."""

    def limit(name: str) -> Limit:
        return Limit(name, settings.seconds(name))

    keep_alive_s = settings.seconds("Net.KeepAlive")
    return Config(
        max_open_requests=settings.count("Net.MaxOpenRequests"),
        dial=limit("Net.DialTimeout"),
        read=limit("Net.ReadTimeout"),
        write=limit("Net.WriteTimeout"),
        keep_alive_s=None if keep_alive_s < 0 else keep_alive_s or _GO_KEEP_ALIVE_S,
        metadata_retry_max=settings.count("Metadata.Retry.Max"),
        metadata_retry_backoff=limit("Metadata.Retry.Backoff"),
        metadata_refresh_frequency_s=settings.seconds("Metadata.RefreshFrequency"),
        metadata_full=settings.flag("Metadata.Full"),
        metadata_timeout_s=settings.seconds("Metadata.Timeout"),
        max_message_bytes=settings.count("Producer.MaxMessageBytes"),
        required_acks=_ACKS[settings.text("Producer.RequiredAcks")],
        timeout_ms=int(settings.seconds("Producer.Timeout") * 1000),
        partitioner=settings.text("Producer.Partitioner"),
        flush_bytes=settings.count("Producer.Flush.Bytes"),
        flush_messages=settings.count("Producer.Flush.Messages"),
        flush_frequency=limit("Producer.Flush.Frequency"),
        flush_max_messages=settings.count("Producer.Flush.MaxMessages"),
        retry_max=settings.count("Producer.Retry.Max"),
        retry_backoff=limit("Producer.Retry.Backoff"),
        client_id=settings.text("ClientID"),
        channel_buffer_size=settings.count("ChannelBufferSize"),
        version=tuple(int(part) for part in settings.text("Version").split(".")),
    )
