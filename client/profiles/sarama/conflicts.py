"""The checks of Validate that look at several settings together, in its order and in its words.

Source: Shopify/sarama v1.27.2 config.go, IBM/sarama v1.60.1 config.go.
"""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from client.profiles.sarama.errors import ConfigurationError
from client.profiles.sarama.settings import ACKS, CREDENTIALS, LEVEL_DEFAULT
from client.settings import Conflict

if TYPE_CHECKING:
    from client.profiles.sarama.config import Config, SaslConfig

_VALID_CLIENT_ID = re.compile(r"\A[A-Za-z0-9._-]+\Z")


def conflicts(conf: "Config") -> Iterator[Conflict]:
    """Everything for which Validate would refuse these settings; it returns the first."""
    if conf.sasl is not None:
        yield from _sasl_conflicts(conf, conf.sasl)
    if 0 < conf.flush_max_messages < conf.flush_messages:
        yield _conflict(
            "Producer.Flush.Messages", "Producer.Flush.MaxMessages", str(conf.flush_messages),
            "Producer.Flush.MaxMessages must be >= Producer.Flush.Messages when set",
        )  # fmt: skip
    yield from _compression_conflicts(conf)
    if conf.idempotent:
        yield from _idempotence_conflicts(conf)
    # Before 1.60.1 the client id is looked at whatever the version: the setting's own check.
    if not conf.is_at_least(1, 0, 0) and not _VALID_CLIENT_ID.match(conf.client_id):
        quoted = json.dumps(conf.client_id, ensure_ascii=False)
        message = f"ClientID value {quoted} is not valid for Kafka versions before 1.0.0"
        yield _conflict("Version", "ClientID", "sarama", message)


def _sasl_conflicts(conf: "Config", sasl: "SaslConfig") -> Iterator[Conflict]:
    if sasl.version == 0 and conf.api_versions_version is not None:
        message = "ApiVersionsRequest must be disabled when SASL v0 is enabled"
        yield _conflict("Net.SASL.Version", "ApiVersionsRequest", "false", message)
    lacking = _OF_THE_PROGRAM.get(sasl.mechanism)
    if lacking is not None:
        yield _conflict("Net.SASL.Enable", "Net.SASL.Mechanism", "PLAIN", lacking)
        return
    for setting, value in zip(CREDENTIALS, (sasl.user, sasl.password), strict=True):
        if not value:
            message = f"{setting} must not be empty when SASL is enabled"
            yield _conflict("Net.SASL.Enable", setting, "faultlab", message)


_OF_THE_PROGRAM = {
    "OAUTHBEARER": "An AccessTokenProvider instance must be provided to Net.SASL.TokenProvider",
    "GSSAPI": "Net.SASL.GSSAPI.ServiceName must not be empty when GSS-API mechanism is used",
}
"""What Validate misses of a program that has no such objects, by mechanism."""


def _compression_conflicts(conf: "Config") -> Iterator[Conflict]:
    level, lowest = conf.compression_level, conf.release.lowest_gzip_level
    if conf.compression == "gzip" and level != LEVEL_DEFAULT and not lowest <= level <= 9:
        message = f"gzip compression does not work with level {level}: gzip: invalid compression level: {level}"
        yield _conflict("Producer.Compression", "Producer.CompressionLevel", str(LEVEL_DEFAULT), message)
    if conf.compression == "zstd" and not conf.is_at_least(2, 1, 0):
        yield _conflict("Producer.Compression", "Version", "2.1.0", "zstd compression requires Version >= V2_1_0_0")


def _idempotence_conflicts(conf: "Config") -> Iterator[Conflict]:
    setting, message = "Producer.Idempotent", "Idempotent producer requires"
    if conf.retry_max == 0:
        yield _conflict(setting, "Producer.Retry.Max", "1", f"{message} Producer.Retry.Max >= 1")
    if conf.required_acks != ACKS["WaitForAll"]:
        yield _conflict(
            setting, "Producer.RequiredAcks", "WaitForAll", f"{message} Producer.RequiredAcks to be WaitForAll"
        )
    if conf.max_open_requests > 1:
        yield _conflict(setting, "Net.MaxOpenRequests", "1", f"{message} Net.MaxOpenRequests to be 1")


def _conflict(setting: str, other: str, wanted: str, message: str) -> Conflict:
    return Conflict(setting=setting, other=other, wanted=wanted, error=ConfigurationError(message))
