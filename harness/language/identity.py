"""Which run is which: an identity that survives a restart, another folder, and every release of faultlab.

Results of years are compared by these hashes, so what was hashed once is hashed for ever, under the same key. A field
of a plan, a parameter of a fault or a setting that is not listed here came later: it is left out while it has its
default, so that adding it renames no run.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from harness.plan import (
    ClientPlan,
    ClusterShape,
    Expectation,
    PlannedFault,
    PlannedHealing,
    PlannedOperation,
    RepeatUntil,
    ResolvedValue,
    RunPlan,
    StartCondition,
    Statistic,
    Topic,
)

_BOUND = "kind formula within_relative within_absolute when holds source name"
ALWAYS: Mapping[type, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        RunPlan: "scenario about tags environment client settings given_settings parameters cluster steps expectations"
        " seed repeat expected_s limit_s statistics integrity",
        ClientPlan: "name version profile argv bootstrap",
        ClusterShape: "brokers topics",
        Topic: "name partitions replication leaders",
        ResolvedValue: "name text unit value",
        StartCondition: "alias after_s",
        RepeatUntil: "every_s until",
        PlannedOperation: "operation alias arguments expect give_up_after_s background again when",
        PlannedFault: "fault alias for_s when",
        PlannedHealing: "alias when",
        Expectation: f"measure {_BOUND}",
        Statistic: f"statistic of unit q lowest highest {_BOUND}",
    }.items()
}
"""Fields that are hashed whatever their value is."""
NEVER = frozenset({"run_id", "attempt", "path", "line", "bound", "predicted_s"})
"""Not part of an identity: the same run tried again, read from another folder, or moved by a comment; and what only
words or announces what other fields say."""
FAULTS_ALWAYS: Mapping[str, frozenset[str]] = {
    name: frozenset(parameters.split())
    for name, parameters in {
        "blackhole": "brokers flows at",
        "error_answer": "brokers api nth code",
        "kill": "brokers",
        "latency": "brokers flows delay jitter",
        "pause": "brokers",
        "refuse": "brokers by",
        "reset": "brokers upon times",
        "restart": "brokers",
        "silence": "brokers api nth",
        "slow_answer": "brokers api nth delay",
    }.items()
}
_SARAMA = """
    Net.MaxOpenRequests Net.DialTimeout Net.ReadTimeout Net.WriteTimeout Net.TLS.Enable Net.SASL.Enable
    Net.SASL.Mechanism Net.SASL.Version Net.SASL.Handshake Net.SASL.AuthIdentity Net.SASL.User Net.SASL.Password
    Net.SASL.SCRAMAuthzID Net.KeepAlive Net.ResolveCanonicalBootstrapServers Metadata.Retry.Max Metadata.Retry.Backoff
    Metadata.RefreshFrequency Metadata.Full Metadata.Timeout Metadata.AllowAutoTopicCreation Metadata.SingleFlight
    Producer.MaxMessageBytes Producer.RequiredAcks Producer.Timeout Producer.Compression Producer.CompressionLevel
    Producer.Partitioner Producer.Idempotent Producer.Flush.Bytes Producer.Flush.Messages Producer.Flush.Frequency
    Producer.Flush.MaxMessages Producer.Retry.Max Producer.Retry.Backoff Producer.Retry.MaxBufferLength
    Producer.Retry.MaxBufferBytes Producer.Transaction.ID Producer.Transaction.Timeout Producer.Transaction.Retry.Max
    Producer.Transaction.Retry.Backoff ClientID ChannelBufferSize Version ApiVersionsRequest
"""
_KAFKA_GO = """
    Writer.Balancer Writer.MaxAttempts Writer.BatchSize Writer.BatchBytes Writer.BatchTimeout Writer.ReadTimeout
    Writer.WriteTimeout Writer.Async Writer.WriteBackoffMin Writer.WriteBackoffMax Writer.RequiredAcks
    Writer.Compression Writer.AllowAutoTopicCreation Transport.DialTimeout Transport.IdleTimeout Transport.MetadataTTL
    Transport.ClientID NetDialer.Timeout NetDialer.KeepAlive WriterConfig.Balancer WriterConfig.MaxAttempts
    WriterConfig.BatchSize WriterConfig.BatchBytes WriterConfig.BatchTimeout WriterConfig.ReadTimeout
    WriterConfig.WriteTimeout WriterConfig.Async WriterConfig.RequiredAcks WriterConfig.RebalanceInterval
    WriterConfig.IdleConnTimeout Dialer.Timeout Dialer.KeepAlive Dialer.ClientID
"""
SETTINGS_ALWAYS: Mapping[str, frozenset[str]] = {
    "sarama": frozenset(_SARAMA.split()),
    "kafka-go": frozenset(_KAFKA_GO.split()),
}
"""By profile. Another setting is hashed where the scenario gives it. A profile that is not here has all of its settings
hashed, so that a setting added to it would rename its runs: it gets a row, with those that it has, before that."""
UNSEEDED = ("real", "producer", "pass_env")
"""Of a client: its library and all of its producers see the same chance as its profile, and so does a program with
other variables."""
SEED_BITS = 48
"""Seeds stay whole numbers in JSON and Spark."""


_spelt = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode


def identity(plan: RunPlan) -> str:
    """The first 12 hex digits of a SHA-256 over everything that makes the run what it is."""
    return digest(members(plan))


def members(plan: RunPlan) -> dict[str, bytes]:
    """What is hashed of a plan: each field in canonical form."""
    found = _fields(plan)
    always = SETTINGS_ALWAYS.get(plan.client.profile or "")
    if always is not None:
        found["settings"] = [
            _plain(one) for one in plan.settings if one.name in always or one.name in plan.given_settings
        ]
    return {key: canonical(value) for key, value in found.items()}


def digest(known: Mapping[str, bytes]) -> str:
    """The hash of the object that has these members: joined as `canonical` would have written it."""
    joined = b",".join(canonical(key) + b":" + known[key] for key in sorted(known))
    return sha256(b"{" + joined + b"}").hexdigest()[:12]


def run_seeds(cell: RunPlan, suite_seed: int, repeats: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Each repeat with its seed. Environment and driver are left out: sim and local, profile and library see the same
    chance."""
    client = {key: value for key, value in _fields(cell.client).items() if key not in UNSEEDED}
    parameters = [asdict(parameter) for parameter in cell.parameters]
    for number in repeats:
        chance = sha256(canonical([suite_seed, cell.scenario, client, parameters, number])).digest()
        yield number, int.from_bytes(chance[: SEED_BITS // 8], "big")


def canonical(value: object) -> bytes:
    """The one spelling of a JSON value."""
    return _spelt(value).encode()


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a part of a plan that are hashed, as JSON values."""
    found: dict[str, Any] = {}
    kind: type = type(value)
    for name, always, default in _hashed_fields(kind):
        held = getattr(value, name)
        if always or held != default:
            found[name] = _plain(held)
    return found


@cache
def _hashed_fields(kind: type) -> tuple[tuple[str, bool, object], ...]:
    """Of the fields that may be hashed: name, whether it is hashed whatever it holds, and what it holds by default."""
    always = next((ALWAYS[base] for base in kind.__mro__ if base in ALWAYS), frozenset())
    return tuple(
        (one.name, one.name in always, _default(one))
        for one in fields(kind)
        if one.name in always or one.name not in NEVER
    )


def _default(one: "Field[Any]") -> object:
    return one.default_factory() if one.default_factory is not MISSING else one.default


def _plain(value: Any) -> Any:
    """A JSON value. A fault's name is added, since it is not one of its fields."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return _fault(value)
    if is_dataclass(value):
        return _fields(value)
    return value


def _fault(model: BaseModel) -> dict[str, Any]:
    name = getattr(type(model), "name", type(model).__name__)
    always = FAULTS_ALWAYS.get(name, frozenset())
    known = type(model).model_fields
    left_out = {
        key
        for key, field in known.items()
        if key not in always and getattr(model, key) == field.get_default(call_default_factory=True)
    }
    return {"fault": name, **model.model_dump(mode="json", exclude=left_out)}
