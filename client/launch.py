"""The launch record in FAULTLAB_SUBJECT, checked. See docs/SUBJECT_PROTOCOL.md."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.net.address import split_host_port
from client.security.credentials import Credentials
from client.security.tls import client_context
from client.settings import SettingValue

PROTOCOL_VERSION = 1

_PLAIN = (float, int, str, bool)


class LaunchError(Exception):
    """The launch record cannot be followed; the text says which key is wrong and what it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRecord:
    """`bootstrap` holds hosts and ports, `settings` values by full name, durations in seconds; `producer` is None for
    the client's usual one; `name_server` is who knows names, None: nobody."""

    client: str
    version: str
    bootstrap: tuple[tuple[str, int], ...]
    settings: Mapping[str, SettingValue]
    seed: int
    producer: str | None = None
    ca_pem: str | None = None
    credentials: Credentials | None = None
    name_server: tuple[str, int] | None = None


def parse_launch_record(record: Mapping[str, object]) -> LaunchRecord:
    """Raises LaunchError. Unknown keys are ignored."""
    protocol = record.get("protocol", PROTOCOL_VERSION)
    if protocol != PROTOCOL_VERSION:
        raise LaunchError(f"protocol is {protocol!r}, this subject speaks {PROTOCOL_VERSION}")
    seed = record.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise LaunchError(f"seed is {seed!r}, not an integer")
    return LaunchRecord(
        client=_text(record, "client"),
        version=_text(record, "version"),
        bootstrap=_bootstrap(record.get("bootstrap")),
        settings=_settings(record.get("settings", {})),
        seed=seed,
        producer=_text(record, "producer") if record.get("producer") is not None else None,
        ca_pem=_ca(record.get("tls")),
        credentials=_credentials(record.get("sasl")),
        name_server=_name_server(record.get("name_server")),
    )


def _text(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value:
        raise LaunchError(f"{key} is {value!r}, not a text")
    return value


def _bootstrap(value: object) -> tuple[tuple[str, int], ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(address, str) for address in value):
        raise LaunchError(f"bootstrap is {value!r}, not a list of host:port")
    try:
        return tuple(split_host_port(address) for address in value)
    except ValueError as wrong:
        raise LaunchError(f"bootstrap: {wrong}") from wrong


def _settings(value: object) -> Mapping[str, SettingValue]:
    if not isinstance(value, Mapping):
        raise LaunchError(f"settings is {value!r}, not an object")
    for name, setting in value.items():
        if not isinstance(name, str) or not isinstance(setting, _PLAIN):
            raise LaunchError(f"settings: {name!r} is {setting!r}, neither number, text nor flag")
    return dict(value)


def _ca(value: object) -> str | None:
    """The PEM text, once it is known that it can be read."""
    if value is None:
        return None
    ca = value.get("ca") if isinstance(value, Mapping) else None
    if not isinstance(ca, str) or not ca:
        raise LaunchError("tls holds no `ca`: the PEM text of the authority that signs the brokers' certificates")
    try:
        client_context(ca)
    except ValueError as wrong:
        raise LaunchError(f"tls: `ca` holds {wrong}") from None
    return ca


def _name_server(value: object) -> tuple[str, int] | None:
    if value is None:
        return None
    try:
        return split_host_port(str(value))
    except ValueError as wrong:
        raise LaunchError(f"name_server: {wrong}") from wrong


def _credentials(value: object) -> Credentials | None:
    if value is None:
        return None
    found = value if isinstance(value, Mapping) else {}
    for key in ("user", "password"):
        if not isinstance(found.get(key), str) or not found[key]:
            raise LaunchError(f"sasl holds no `{key}`: brokers with SASL ask for a user and a password")
    return Credentials(user=found["user"], password=found["password"])
