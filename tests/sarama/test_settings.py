"""Protects names, defaults and refusals: what a scenario may set, in the words of the real client."""

import pytest

from client.errors import ClientError, SettingError
from client.metadata import Node, snapshot_of
from client.profiles import check_release, profile, profiles
from client.profiles.sarama.config import SETTINGS, config_of
from client.profiles.sarama.errors import KError, kerror, sentinel
from client.profiles.sarama.releases import RELEASES, release_of
from client.settings import SettingValue
from client.wire.apis.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

VERSION = "1.27.2"


def test_profiles_are_found_and_unknown_ones_refused_with_the_nearest_name() -> None:
    assert "sarama" in profiles()
    assert profile("sarama").releases == tuple(RELEASES)
    with pytest.raises(SettingError, match="there is no profile sarma") as caught:
        profile("sarma")
    assert caught.value.suggestion == "sarama"


@pytest.mark.parametrize("version", ["1.27", "1.27.3", "1.28.0", "v1.27.2", ""])
def test_releases_are_never_rounded(version: str) -> None:
    with pytest.raises(SettingError, match=r"is not reproduced, only 1\.27\.2") as caught:
        check_release(profile("sarama"), version)
    assert caught.value.suggestion in RELEASES
    with pytest.raises(SettingError):
        release_of(version)
    assert release_of(VERSION).source == "Shopify/sarama v1.27.2"


def test_defaults_are_those_of_new_config() -> None:
    settings = SETTINGS.resolve({}, VERSION)
    expected: dict[str, SettingValue] = {
        "Net.MaxOpenRequests": 5, "Net.DialTimeout": 30.0, "Net.ReadTimeout": 30.0, "Net.WriteTimeout": 30.0,
        "Metadata.Retry.Max": 3, "Metadata.Retry.Backoff": 0.25, "Metadata.RefreshFrequency": 600.0,
        "Metadata.Full": True, "Metadata.Timeout": 0.0, "Producer.MaxMessageBytes": 1000000,
        "Producer.RequiredAcks": "WaitForLocal", "Producer.Timeout": 10.0, "Producer.Retry.Max": 3,
        "Producer.Retry.Backoff": 0.1, "Producer.Flush.Bytes": 0, "Producer.Flush.Messages": 0,
        "Producer.Flush.Frequency": 0.0, "Producer.Flush.MaxMessages": 0, "ClientID": "sarama",
        "ChannelBufferSize": 256, "Version": "1.0.0",
    }  # fmt: skip
    assert {name: settings[name] for name in expected} == expected
    conf = config_of(settings)
    assert conf.is_at_least(1, 0, 0)
    assert not conf.is_at_least(2, 1, 0)
    assert conf.required_acks == 1
    assert conf.timeout_ms == 10_000
    assert conf.keep_alive_s == 15.0


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Net.DialTimeout", 0.0, "kafka: invalid configuration (Net.DialTimeout must be > 0)"),
        ("Net.MaxOpenRequests", 0, "kafka: invalid configuration (Net.MaxOpenRequests must be > 0)"),
        ("Producer.Retry.Max", -1, "kafka: invalid configuration (Producer.Retry.Max must be >= 0)"),
        ("Metadata.Retry.Backoff", -0.1, "kafka: invalid configuration (Metadata.Retry.Backoff must be >= 0)"),
        ("ClientID", "a b", "kafka: invalid configuration (ClientID is invalid)"),
        ("Producer.RequiredAcks", "x", "Producer.RequiredAcks is one of NoResponse, WaitForLocal, WaitForAll, not x"),
        ("Producer.Idempotent", True, "the idempotent producer is not reproduced yet: only false"),
        ("Net.TLS.Enable", True, "TLS is not reproduced yet: only false"),
    ],
)  # fmt: skip
def test_values_are_refused_in_validates_words(name: str, value: SettingValue, text: str) -> None:
    with pytest.raises(SettingError) as caught:
        SETTINGS.resolve({name: value}, VERSION)
    assert caught.value.text == text


def test_an_unknown_setting_gets_a_suggestion() -> None:
    with pytest.raises(SettingError, match=r"sarama has no setting Producer\.Retry\.Maxx") as caught:
        SETTINGS.resolve({"Producer.Retry.Maxx": 1}, VERSION)
    assert caught.value.suggestion == "Producer.Retry.Max"


def test_settings_that_contradict_each_other_are_refused_by_validate() -> None:
    given = {"Producer.Flush.MaxMessages": 2, "Producer.Flush.Messages": 3}
    with pytest.raises(ClientError) as caught:
        config_of(SETTINGS.resolve(given, VERSION)).validate()
    assert caught.value.text == (
        "kafka: invalid configuration (Producer.Flush.MaxMessages must be >= Producer.Flush.Messages when set)"
    )


def test_error_texts_are_saramas() -> None:
    assert sentinel("breaker.ErrBreakerOpen").text == "circuit breaker is open"
    assert kerror("ErrOffsetOutOfRange").text == (
        "kafka server: The requested offset is outside the range of offsets maintained by the server for the given "
        "topic/partition."
    )
    assert KError(999).text == "Unknown error, how did this happen? Error code = 999"


def test_a_snapshot_knows_leaders_and_writable_partitions() -> None:
    response = MetadataResponse(
        brokers=(MetadataResponseBroker(node_id=1, host="127.0.2.1", port=9092),),
        controller_id=1,
        topics=(
            MetadataResponseTopic(
                name="orders",
                partitions=(
                    MetadataResponsePartition(partition_index=1, leader_id=1),
                    MetadataResponsePartition(partition_index=0, leader_id=-1, error_code=5),
                    MetadataResponsePartition(partition_index=2, leader_id=7),
                ),
            ),
            MetadataResponseTopic(name="broken", error_code=3),
        ),
    )
    snapshot = snapshot_of(response)
    orders = snapshot.topic("orders")
    assert orders is not None
    assert orders.partition_ids == (0, 1, 2)
    assert orders.writable_ids == (1, 2)
    assert snapshot.leader("orders", 1) == Node(id=1, host="127.0.2.1", port=9092)
    assert snapshot.leader("orders", 0) is None  # no leader
    assert snapshot.leader("orders", 2) is None  # a leader that is no broker
    assert snapshot.leader("orders", 9) is None
    assert snapshot.leader("broken", 0) is None
    assert snapshot.leader("nowhere", 0) is None
