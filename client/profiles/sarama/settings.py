"""Sarama's settings: names, defaults, and those checks of Validate that look at one value, in its words.

Source: Shopify/sarama v1.27.2 config.go, IBM/sarama v1.60.1 config.go. Left out: what only consumers and the admin
client read, what is a function or an object in Go (BackoffFunc, Proxy.Dialer, Interceptors), and Producer.Return.*,
which have to be true for a send's end to be seen.
"""

import re
from collections.abc import Callable

from client.profiles.sarama.errors import ConfigurationError
from client.profiles.sarama.partitioner import PARTITIONERS
from client.profiles.sarama.releases import RELEASES
from client.settings import HealthyWait, Setting, SettingsTable, SettingValue

_Check = Callable[[SettingValue], str | None]

ACKS = {"NoResponse": 0, "WaitForLocal": 1, "WaitForAll": -1}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CREDENTIALS = ("Net.SASL.User", "Net.SASL.Password")
"""Which settings hold the user and the password."""
LEVEL_DEFAULT = -1000
"""CompressionLevelDefault: the codec's own default."""

_ONLY_1_27, _ONLY_1_60 = ("1.27.2",), ("1.60.1",)
_VALID_ID = re.compile(r"\A[A-Za-z0-9._-]+\Z")
_PARTITIONERS_1_60 = ("consistentcrchash", "murmur2")


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


def _unsupported(reason: str) -> _Check:
    """For what is not reproduced: only a false or empty value passes."""
    return lambda value: f"not reproduced: {reason}" if value else None


def _duration(
    name: str, default_s: float, about: str, check: _Check | None = None, releases: tuple[str, ...] = (),
    *, limits: tuple[HealthyWait, ...] = (),
) -> Setting:  # fmt: skip
    return Setting(
        name=name, kind="duration", default=default_s, about=about, check=check, releases=releases, limits=limits
    )


def _count(name: str, default: int, about: str, check: _Check | None = None, releases: tuple[str, ...] = ()) -> Setting:
    return Setting(name=name, kind="count", default=default, about=about, check=check, releases=releases)


def _flag(
    name: str, *, default: bool, about: str, check: _Check | None = None, releases: tuple[str, ...] = ()
) -> Setting:
    return Setting(name=name, kind="flag", default=default, about=about, check=check, releases=releases)


def _text(name: str, default: str, about: str, check: _Check | None = None, releases: tuple[str, ...] = ()) -> Setting:
    return Setting(name=name, kind="text", default=default, about=about, check=check, releases=releases)


def _choice(name: str, default: str, choices: tuple[str, ...], about: str, releases: tuple[str, ...] = ()) -> Setting:
    return Setting(name=name, kind="choice", default=default, about=about, choices=choices, releases=releases)


def _partitioner(choices: tuple[str, ...], releases: tuple[str, ...]) -> Setting:
    about = "who chooses the partition of a message that names none"
    return _choice("Producer.Partitioner", "hash", choices, about, releases)


_NET = (
    _count("Net.MaxOpenRequests", 5, "unanswered requests a connection", _above_zero("Net.MaxOpenRequests")),
    _duration(
        "Net.DialTimeout", 30.0, "how long a dial may take", _above_zero("Net.DialTimeout"), limits=("dial",)
    ),
    _duration(
        "Net.ReadTimeout", 30.0, "how long a response may take", _above_zero("Net.ReadTimeout"), limits=("answer",)
    ),
    _duration(
        "Net.WriteTimeout", 30.0, "how long the kernel may take a request", _above_zero("Net.WriteTimeout"),
        limits=("answer",),
    ),
    _flag(
        "Net.ResolveCanonicalBootstrapServers", default=False, about="bootstrap addresses by reverse look-up",
        check=_unsupported("the lab has no names to look up backwards"), releases=_ONLY_1_60,
    ),
    _flag("Net.TLS.Enable", default=False, about="TLS, trusting the authority of the lab's brokers"),
    _flag("Net.SASL.Enable", default=False, about="SASL, with the credentials of the lab's brokers"),
    _choice(
        "Net.SASL.Mechanism", "PLAIN", ("PLAIN", "OAUTHBEARER", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"),
        "read where SASL is enabled",
    ),
    _count("Net.SASL.Version", 0, "of the SASL handshake; read where SASL is enabled", releases=_ONLY_1_27),
    _count("Net.SASL.Version", 1, "of the SASL handshake; read where SASL is enabled", releases=_ONLY_1_60),
    _flag("Net.SASL.Handshake", default=True, about="whether the mechanism is named first; read where SASL is enabled"),
    _text("Net.SASL.AuthIdentity", "", "who PLAIN's user acts for; read where SASL is enabled"),
    _text("Net.SASL.User", "", "the lab's own where it is empty"),
    _text("Net.SASL.Password", "", "the lab's own: it stands in no scenario"),
    _text("Net.SASL.SCRAMAuthzID", "", "who SCRAM's user acts for; read where SASL is enabled"),
    _duration("Net.KeepAlive", 0.0, "period of TCP keep-alives; 0: Go's 15 s, negative: none"),
)  # fmt: skip

_METADATA = (
    _count(
        "Metadata.Retry.Max", 3, "tries after the first of a metadata refresh", _not_negative("Metadata.Retry.Max")
    ),
    _duration("Metadata.Retry.Backoff", 0.25, "pause before each of them", _not_negative("Metadata.Retry.Backoff")),
    _duration(
        "Metadata.RefreshFrequency", 600.0, "period of the refresh in the background; 0: none",
        _not_negative("Metadata.RefreshFrequency"),
    ),
    _flag("Metadata.Full", default=True, about="metadata of all topics, or only of those in use"),
    _duration(
        "Metadata.Timeout", 0.0, "how long a metadata refresh may take with its retries; 0: no limit",
        limits=("dial", "answer"),
    ),
    _flag(
        "Metadata.AllowAutoTopicCreation", default=True, about="whether a broker may create a topic that is asked for",
        releases=_ONLY_1_60,
    ),
    _flag("Metadata.SingleFlight", default=True, about="one metadata refresh at a time", releases=_ONLY_1_60),
)  # fmt: skip

_PRODUCER = (
    _count(
        "Producer.MaxMessageBytes", 1_000_000, "largest message", _above_zero("Producer.MaxMessageBytes"), _ONLY_1_27
    ),
    _count(
        "Producer.MaxMessageBytes", 1024 * 1024, "largest message", _above_zero("Producer.MaxMessageBytes"), _ONLY_1_60
    ),
    _choice("Producer.RequiredAcks", "WaitForLocal", tuple(ACKS), "who must have a message before the broker answers"),
    _duration(
        "Producer.Timeout", 10.0,
        "how long the broker may wait for its followers: a field of the request, no timer of the client",
        _above_zero("Producer.Timeout"),
    ),
    _choice("Producer.Compression", "none", CODECS, "codec of batches"),
    _count("Producer.CompressionLevel", LEVEL_DEFAULT, f"the codec's level; {LEVEL_DEFAULT}: its default"),
    _partitioner(tuple(name for name in PARTITIONERS if name not in _PARTITIONERS_1_60), _ONLY_1_27),
    _partitioner(tuple(PARTITIONERS), _ONLY_1_60),
    _flag("Producer.Idempotent", default=False, about="each message exactly once, as far as brokers can tell"),
    _text(
        "Producer.Transaction.ID", "", "transactions",
        _unsupported("the lab's brokers know no transactions; leave Producer.Transaction.ID empty"), _ONLY_1_60,
    ),
    _duration("Producer.Transaction.Timeout", 60.0, "of a transaction", releases=_ONLY_1_60),
    _count("Producer.Transaction.Retry.Max", 50, "tries after the first to get a producer id", releases=_ONLY_1_60),
    _duration("Producer.Transaction.Retry.Backoff", 0.1, "pause before each of them", releases=_ONLY_1_60),
    _count("Producer.Flush.Bytes", 0, "bytes that trigger a flush", _not_negative("Producer.Flush.Bytes")),
    _count("Producer.Flush.Messages", 0, "messages that trigger a flush", _not_negative("Producer.Flush.Messages")),
    _duration(
        "Producer.Flush.Frequency", 0.0, "time that triggers a flush", _not_negative("Producer.Flush.Frequency")
    ),
    _count(
        "Producer.Flush.MaxMessages", 0, "most messages in a request; 0: no limit",
        _not_negative("Producer.Flush.MaxMessages"),
    ),
    _count("Producer.Retry.Max", 3, "tries of a message after the first", _not_negative("Producer.Retry.Max")),
    _duration("Producer.Retry.Backoff", 0.1, "pause before each of them", _not_negative("Producer.Retry.Backoff")),
    _count(
        "Producer.Retry.MaxBufferLength", 0, "most messages that wait for a retry; 0: no limit", releases=_ONLY_1_60
    ),
    _count("Producer.Retry.MaxBufferBytes", 0, "most bytes that wait for a retry; 0: no limit", releases=_ONLY_1_60),
)  # fmt: skip

_SHARED = (
    _text("ClientID", "sarama", "name in every request", _client_id, _ONLY_1_27),
    _text("ClientID", "sarama", "name in every request", None, _ONLY_1_60),
    _count("ChannelBufferSize", 256, "messages in each internal channel", _not_negative("ChannelBufferSize")),
    _flag(
        "ApiVersionsRequest",
        default=True,
        about="asks each new connection for its API versions first",
        releases=_ONLY_1_60,
    ),
    *(
        _choice(
            "Version",
            release.default_kafka_version,
            release.kafka_versions,
            "Kafka version that is assumed",
            (version,),
        )
        for version, release in RELEASES.items()
    ),
)

SETTINGS = SettingsTable("sarama", (*_NET, *_METADATA, *_PRODUCER, *_SHARED))
"""Every setting of the profile."""
