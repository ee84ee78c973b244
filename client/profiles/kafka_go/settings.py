"""kafka-go's settings: names and defaults. The library refuses no number: what is not above zero means the default.

Source: segmentio/kafka-go v0.4.8, v0.4.9 and v0.4.50 writer.go, transport.go, dialer.go.

`Writer.*` and `Transport.*` are the fields of these structs. `NetDialer.*` are those of the net.Dialer of which the
Transport's Dial is made, and the program's own DialFunc. NewWriter reads `WriterConfig.*` and `Dialer.*` instead, a
Dialer `Dialer.*` alone. What is an object or a function in Go has words here. Left out: what only a Reader reads, TLS
and SASL of a Transport, CompressionCodec, Logger; the program sets Addr, Topic, Transport and Completion.
"""

from collections.abc import Callable

from client.profiles.kafka_go.balancer import BALANCERS, NEWER_BALANCERS
from client.profiles.kafka_go.resolver import check_local_address, check_resolver
from client.settings import HealthyWait, Setting, SettingsTable

ACKS = {"none": 0, "one": 1, "all": -1}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

_IDLE_TIMEOUT_S, _METADATA_TTL_S = 30.0, 6.0

_FIRST, _NEWEST = ("0.4.8", "0.4.9"), ("0.4.50",)


def _above_zero(default: float) -> Callable[[float], float]:
    return lambda value: value if value > 0 else default


def _time_out(
    name: str, default_s: float, about: str, releases: tuple[str, ...] = (), *, limits: tuple[HealthyWait, ...] = ()
) -> Setting:
    return Setting(
        name=name,
        kind="duration",
        default=default_s,
        about=about,
        releases=releases,
        reads=_above_zero(default_s),
        limits=limits,
    )


def _duration(name: str, default_s: float, about: str, *, limits: tuple[HealthyWait, ...] = ()) -> Setting:
    """One of which Go's net.Dialer makes something else: a Timeout of 0 is none, one below 0 is over at once."""
    return Setting(name=name, kind="duration", default=default_s, about=about, limits=limits)


def _deprecated_duration(name: str, default_s: float, transport_s: float, about: str) -> Setting:
    """NewWriter asks for 0 alone; what is below, the Transport that it makes takes for its own default."""

    def reads(value_s: float) -> float:
        return _above_zero(transport_s)(value_s or default_s)

    return Setting(name=name, kind="duration", default=default_s, about=about, reads=reads)


def _count(name: str, default: int, about: str) -> Setting:
    return Setting(name=name, kind="count", default=default, about=about, reads=_above_zero(default))


def _choice(name: str, default: str, choices: tuple[str, ...], about: str, releases: tuple[str, ...] = ()) -> Setting:
    return Setting(name=name, kind="choice", default=default, about=about, choices=choices, releases=releases)


def _batching(group: str) -> tuple[Setting, ...]:
    """What a Writer and a WriterConfig have alike."""
    about = "who chooses the partition of a message that names none"
    older = tuple(name for name in BALANCERS if name not in NEWER_BALANCERS)
    return (
        _choice(f"{group}.Balancer", "RoundRobin", older, about, _FIRST),
        _choice(f"{group}.Balancer", "RoundRobin", tuple(BALANCERS), about, _NEWEST),
        _count(f"{group}.MaxAttempts", 10, "tries to write a batch"),
        _count(f"{group}.BatchSize", 100, "messages that fill a batch"),
        _count(f"{group}.BatchBytes", 1048576, "bytes that fill a batch, and largest message"),
        _time_out(f"{group}.BatchTimeout", 1.0, "how long a batch waits for more messages"),
        _time_out(f"{group}.ReadTimeout", 10.0, "not read by the Writer's calls"),
        _time_out(
            f"{group}.WriteTimeout",
            10.0,
            "how long one try to write a batch may take, its dial included",
            limits=("dial", "answer"),
        ),
        Setting(
            name=f"{group}.Async",
            kind="flag",
            default=False,
            about="whether WriteMessages returns before it has written",
        ),
    )


_WRITER = (
    *_batching("Writer"),
    _time_out("Writer.WriteBackoffMin", 0.1, "pause before the second try, times the square of its number", _NEWEST),
    _time_out("Writer.WriteBackoffMax", 1.0, "longest pause before a try", _NEWEST),
    _choice("Writer.RequiredAcks", "none", tuple(ACKS), "who must have a message before the broker answers"),
    _choice("Writer.Compression", "none", CODECS, "codec of batches"),
    Setting(
        name="Writer.AllowAutoTopicCreation", kind="flag", default=False,
        about="whether a broker may create a topic that is written to", releases=_NEWEST,
    ),
)  # fmt: skip

_TRANSPORT = (
    _time_out(
        "Transport.DialTimeout",
        5.0,
        "one deadline for all dials of an address list, and for ApiVersions",
        limits=("dial", "answer"),
    ),
    _time_out("Transport.IdleTimeout", _IDLE_TIMEOUT_S, "how long an unused connection stays open"),
    _time_out(
        "Transport.MetadataTTL",
        _METADATA_TTL_S,
        "longest wait between metadata requests, and how long one may take",
        limits=("answer",),
    ),
    Setting(name="Transport.ClientID", kind="text", default="", about="name in every request"),
    _duration("NetDialer.Timeout", 3.0, "how long one dial may take", limits=("dial",)),
    _duration("NetDialer.KeepAlive", 0.0, "period of TCP keep-alives; 0: Go's 15 s, negative: none"),
)

_NEW_WRITER = (
    *_batching("WriterConfig"),
    Setting(
        name="WriterConfig.RequiredAcks",
        kind="count",
        default=-1,
        about="as a number: -1 all, 1 one; 0 means all here",
        reads=lambda value: value or -1,
    ),
    _deprecated_duration(
        "WriterConfig.RebalanceInterval", 15.0, _METADATA_TTL_S, "MetadataTTL of the Transport that NewWriter makes"
    ),
    _deprecated_duration("WriterConfig.IdleConnTimeout", 540.0, _IDLE_TIMEOUT_S, "its IdleTimeout"),
)

_DIALER = (
    _duration(
        "Dialer.Timeout",
        10.0,
        "how long one dial may take; 0: no limit; NewWriter's DialTimeout is 5 s anyway",
        limits=("dial",),
    ),
    _duration("Dialer.Deadline", 0.0, "when dials are over for good, so long after the Dialer is made; 0: never"),
    Setting(
        name="Dialer.Resolver",
        kind="text",
        default="",
        about="what names become: hosts, of which the first is dialled; `none`, `fails`, `system`; empty: Go's dialer",
        check=check_resolver,
    ),
    _choice("Dialer.DialFunc", "nil", ("nil", "own"), "`own`: the program's NetDialer dials, and not the Dialer's"),
    Setting(
        name="Dialer.LocalAddr",
        kind="text",
        default="",
        about="address that connections are bound to, such as 127.0.0.9; a port may follow",
        check=check_local_address,
    ),
    _duration(
        "Dialer.FallbackDelay", 0.0, "head start of a name's first address family; 0: 300 ms, negative: for good"
    ),
    _choice("Dialer.TLS", "nil", ("nil", "lab"), "`lab`: TLS that trusts the authority of the lab's brokers alone"),
    _choice("Dialer.SASLMechanism", "nil", ("nil", *MECHANISMS), "how to authenticate, with what the lab gives"),
    Setting(name="Dialer.DualStack", kind="flag", default=True, about="not read by Go any more"),
    _duration("Dialer.KeepAlive", 0.0, "period of TCP keep-alives; 0: Go's 15 s, negative: none"),
    Setting(name="Dialer.ClientID", kind="text", default="", about="name in every request"),
    Setting(
        name="Dialer.TransactionalID", kind="text", default="", about="in each Produce request of a dialled connection"
    ),
)

SETTINGS = SettingsTable("kafka-go", (*_WRITER, *_TRANSPORT, *_NEW_WRITER, *_DIALER))
"""Every setting of the profile."""
