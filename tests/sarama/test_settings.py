"""Protects names, defaults and refusals: what a scenario may set, in the words of the real client."""

import pytest

from client.errors import ClientError, SettingError
from client.metadata import Node, snapshot_from_response
from client.profiles import check_release, profile, profiles
from client.profiles.sarama import PROFILE
from client.profiles.sarama.config import build_config
from client.profiles.sarama.errors import ERRORS_1_27, ERRORS_1_60, ErrorCatalog, TopicErrors
from client.profiles.sarama.releases import RELEASES, find_release
from client.profiles.sarama.settings import SETTINGS
from client.settings import SettingValue
from client.wire.apis.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

OLD, NEW = "1.27.2", "1.60.1"


def test_profiles_are_found_and_unknown_ones_refused_with_the_nearest_name() -> None:
    assert "sarama" in profiles()
    assert profile("sarama").releases == tuple(RELEASES)
    with pytest.raises(SettingError, match="there is no profile sarma") as caught:
        profile("sarma")
    assert caught.value.suggestion == "sarama"


@pytest.mark.parametrize("version", ["1.27", "1.27.3", "1.28.0", "v1.27.2", "1.60.0", "1.60", ""])
def test_releases_are_never_rounded(version: str) -> None:
    with pytest.raises(SettingError, match=r"is not reproduced, only 1\.27\.2") as caught:
        check_release(profile("sarama"), version)
    assert caught.value.suggestion in RELEASES
    with pytest.raises(SettingError):
        find_release(version)
    assert find_release(OLD).source == "Shopify/sarama v1.27.2"
    assert find_release(NEW).source == "IBM/sarama v1.60.1"


@pytest.mark.parametrize(
    ("release", "changed"),
    [
        (OLD, {"Producer.MaxMessageBytes": 1_000_000, "Version": "1.0.0", "Net.SASL.Version": 0}),
        (
            NEW,
            {
                "Producer.MaxMessageBytes": 1_048_576, "Version": "2.8.0", "Net.SASL.Version": 1,
                "ApiVersionsRequest": True, "Metadata.SingleFlight": True, "Metadata.AllowAutoTopicCreation": True,
                "Producer.Transaction.Retry.Max": 50, "Producer.Transaction.Retry.Backoff": 0.1,
                "Producer.Retry.MaxBufferLength": 0, "Producer.Retry.MaxBufferBytes": 0,
            },
        ),
    ],
)  # fmt: skip
def test_defaults_are_those_of_new_config(release: str, changed: dict[str, SettingValue]) -> None:
    settings = SETTINGS.resolve({}, release)
    expected: dict[str, SettingValue] = {
        **changed,
        "Net.MaxOpenRequests": 5, "Net.DialTimeout": 30.0, "Net.ReadTimeout": 30.0, "Net.WriteTimeout": 30.0,
        "Metadata.Retry.Max": 3, "Metadata.Retry.Backoff": 0.25, "Metadata.RefreshFrequency": 600.0,
        "Metadata.Full": True, "Metadata.Timeout": 0.0,
        "Producer.RequiredAcks": "WaitForLocal", "Producer.Timeout": 10.0, "Producer.Retry.Max": 3,
        "Producer.Retry.Backoff": 0.1, "Producer.Flush.Bytes": 0, "Producer.Flush.Messages": 0,
        "Producer.Flush.Frequency": 0.0, "Producer.Flush.MaxMessages": 0, "ClientID": "sarama",
        "ChannelBufferSize": 256, "Producer.Compression": "none", "Producer.CompressionLevel": -1000,
        "Producer.Partitioner": "hash", "Producer.Idempotent": False,
    }  # fmt: skip
    assert {name: settings[name] for name in expected} == expected
    conf = build_config(settings)
    assert conf.is_at_least(1, 0, 0)
    assert conf.is_at_least(2, 1, 0) == (release == NEW)
    assert conf.required_acks == 1
    assert conf.timeout_ms == 10_000
    assert conf.keep_alive_s == 15.0
    assert build_config(SETTINGS.resolve({"Net.KeepAlive": -1.0}, release)).keep_alive_s is None
    assert build_config(SETTINGS.resolve({"Net.KeepAlive": 0.5}, release)).keep_alive_s == 0.5


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Net.DialTimeout", 0.0, "kafka: invalid configuration (Net.DialTimeout must be > 0)"),
        ("Net.MaxOpenRequests", 0, "kafka: invalid configuration (Net.MaxOpenRequests must be > 0)"),
        ("Producer.Retry.Max", -1, "kafka: invalid configuration (Producer.Retry.Max must be >= 0)"),
        ("Metadata.Retry.Backoff", -0.1, "kafka: invalid configuration (Metadata.Retry.Backoff must be >= 0)"),
        ("ClientID", "a b", "kafka: invalid configuration (ClientID is invalid)"),
        ("Producer.RequiredAcks", "x", "Producer.RequiredAcks is one of NoResponse, WaitForLocal, WaitForAll, not x"),
        ("Producer.Compression", "brotli", "Producer.Compression is one of none, gzip, snappy, lz4, zstd, not brotli"),
        ("Producer.Partitioner", "murmur2", "Producer.Partitioner is one of hash, random, roundrobin, manual, "
            "referencehash, not murmur2"),
    ],
)  # fmt: skip
def test_values_are_refused_in_validates_words(name: str, value: SettingValue, text: str) -> None:
    with pytest.raises(SettingError) as caught:
        SETTINGS.resolve({name: value}, OLD)
    assert caught.value.text == text


@pytest.mark.parametrize(
    "name", ["ApiVersionsRequest", "Metadata.SingleFlight", "Producer.Retry.MaxBufferBytes", "Producer.Transaction.ID"]
)
def test_a_setting_that_a_release_does_not_have_is_refused_with_its_name(name: str) -> None:
    assert name in SETTINGS.resolve({}, NEW)
    with pytest.raises(SettingError, match=rf"^sarama 1\.27\.2 has no setting {name} \(only 1\.60\.1\)$"):
        SETTINGS.resolve({name: True}, OLD)


def test_what_changed_stands_in_a_row_for_each_release() -> None:
    assert SETTINGS.resolve({"Version": "2.6.0", "Producer.Partitioner": "manual"}, OLD)["Version"] == "2.6.0"
    assert SETTINGS.resolve({"Version": "4.3.1", "Producer.Partitioner": "murmur2"}, NEW)["Version"] == "4.3.1"
    with pytest.raises(SettingError, match=r"Version is one of 0\.11\.0\.0, .* not 4\.3\.1"):
        SETTINGS.resolve({"Version": "4.3.1"}, OLD)


@pytest.mark.parametrize(
    ("release", "version", "expected"),
    [
        # metadata, produce, init producer id, api versions
        (OLD, "0.11.0.0", (1, 3, 0, None)),
        (OLD, "1.0.0", (5, 3, 0, None)),
        (OLD, "2.6.0", (5, 3, 0, None)),
        (NEW, "0.11.0.0", (4, 3, 0, 3)),
        (NEW, "1.0.0", (5, 5, 0, 3)),
        (NEW, "2.3.1", (8, 7, 1, 3)),
        (NEW, "2.8.0", (11, 9, 4, 3)),
        (NEW, "4.3.1", (11, 10, 4, 4)),
    ],
)
def test_requests_have_the_versions_that_the_kafka_version_implies(
    release: str, version: str, expected: tuple[int | None, ...]
) -> None:
    conf = build_config(SETTINGS.resolve({"Version": version}, release))
    found = (
        conf.metadata_version, conf.produce_version, conf.init_producer_id_version, conf.api_versions_version
    )  # fmt: skip
    assert found == expected


def test_zstd_asks_for_produce_7_where_the_release_knows_no_later_one() -> None:
    given: dict[str, SettingValue] = {"Producer.Compression": "zstd", "Version": "2.1.0"}
    assert build_config(SETTINGS.resolve(given, OLD)).produce_version == 7
    assert build_config(SETTINGS.resolve({"ApiVersionsRequest": False}, NEW)).api_versions_version is None


def test_an_unknown_setting_gets_a_suggestion() -> None:
    with pytest.raises(SettingError, match=r"sarama has no setting Producer\.Retry\.Maxx") as caught:
        SETTINGS.resolve({"Producer.Retry.Maxx": 1}, OLD)
    assert caught.value.suggestion == "Producer.Retry.Max"


@pytest.mark.parametrize(
    ("release", "given", "text"),
    [
        (OLD, {"Producer.Flush.MaxMessages": 2, "Producer.Flush.Messages": 3},
            "Producer.Flush.MaxMessages must be >= Producer.Flush.Messages when set"),
        (OLD, {"Producer.Compression": "zstd"}, "zstd compression requires Version >= V2_1_0_0"),
        (OLD, {"Producer.Compression": "gzip", "Producer.CompressionLevel": -3},
            "gzip compression does not work with level -3: gzip: invalid compression level: -3"),
        (NEW, {"Producer.Compression": "gzip", "Producer.CompressionLevel": 10},
            "gzip compression does not work with level 10: gzip: invalid compression level: 10"),
        (NEW, {"Producer.Idempotent": True, "Producer.Retry.Max": 0},
            "Idempotent producer requires Producer.Retry.Max >= 1"),
        (NEW, {"Producer.Idempotent": True}, "Idempotent producer requires Producer.RequiredAcks to be WaitForAll"),
        (OLD, {"Producer.Idempotent": True, "Producer.RequiredAcks": "WaitForAll"},
            "Idempotent producer requires Net.MaxOpenRequests to be 1"),
        (NEW, {"ClientID": "a b", "Version": "0.11.0.2"},
            'ClientID value "a b" is not valid for Kafka versions before 1.0.0'),
    ],
)  # fmt: skip
def test_settings_that_contradict_each_other_are_refused_by_validate(
    release: str, given: dict[str, SettingValue], text: str
) -> None:
    with pytest.raises(ClientError) as caught:
        build_config(SETTINGS.resolve(given, release)).validate()
    assert caught.value.text == f"kafka: invalid configuration ({text})"


def test_all_idempotence_conflicts_are_reported_at_once() -> None:
    """Validate returns the first; whoever writes a scenario wants to know of all."""
    for release in RELEASES:
        conflicts = PROFILE.conflicts(SETTINGS.resolve({"Producer.Idempotent": True, "Producer.Retry.Max": 0}, release))
        assert [(one.setting, one.other, one.wanted) for one in conflicts] == [
            ("Producer.Idempotent", "Producer.Retry.Max", "1"),
            ("Producer.Idempotent", "Producer.RequiredAcks", "WaitForAll"),
            ("Producer.Idempotent", "Net.MaxOpenRequests", "1"),
        ]


@pytest.mark.parametrize(
    "given",
    [
        {"Producer.Idempotent": True, "Producer.Retry.Max": 0},
        {"Producer.Flush.MaxMessages": 2, "Producer.Flush.Messages": 3},
        {"Producer.Compression": "zstd", "Version": "1.0.0"},
        {"Producer.Compression": "gzip", "Producer.CompressionLevel": 10},
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_what_is_wanted_instead_is_right(release: str, given: dict[str, SettingValue]) -> None:
    conflicts = PROFILE.conflicts(SETTINGS.resolve(given, release))
    assert conflicts
    wanted = {one.other: int(one.wanted) if one.wanted.lstrip("-").isdigit() else one.wanted for one in conflicts}
    assert PROFILE.conflicts(SETTINGS.resolve({**given, **wanted}, release)) == ()


def test_settings_that_go_together_pass() -> None:
    build_config(SETTINGS.resolve({"Producer.Compression": "gzip", "Producer.CompressionLevel": -3}, NEW)).validate()
    build_config(SETTINGS.resolve({"ClientID": "a b"}, NEW)).validate()
    given = {"Producer.Idempotent": True, "Producer.RequiredAcks": "WaitForAll", "Net.MaxOpenRequests": 1}
    for release in RELEASES:
        build_config(SETTINGS.resolve(given, release)).validate()


@pytest.mark.parametrize("errors", [ERRORS_1_27, ERRORS_1_60])
def test_error_texts_are_saramas(errors: ErrorCatalog) -> None:
    stop = "." if errors is ERRORS_1_27 else ""
    assert errors.kerror("ErrOffsetOutOfRange").text == (
        "kafka server: The requested offset is outside the range of offsets maintained by the server for the given "
        f"topic/partition{stop}"
    )
    assert errors.kerror_from_code(999).text == "Unknown error, how did this happen? Error code = 999"
    assert errors.kerror_from_code(87).name == ("KError" if errors is ERRORS_1_27 else "ErrInvalidRecord")


def test_errors_wrap_others_and_name_topics_from_the_release_that_does_so() -> None:
    out = ERRORS_1_60.sentinel("ErrOutOfBrokers", [ERRORS_1_60.kerror("ErrUnknown"), ERRORS_1_60.kerror("ErrUnknown")])
    unknown = "kafka server: Unexpected (unknown?) server error"
    assert out.text == f"kafka: client has run out of available brokers to talk to: {unknown}\n{unknown}"
    assert ERRORS_1_60.sentinel("ErrOutOfBrokers").text == "kafka: client has run out of available brokers to talk to"
    both = TopicErrors({"b": ERRORS_1_60.kerror("ErrInvalidTopic"), "a": ERRORS_1_60.kerror("ErrUnknown")})
    assert both.text.startswith("a: kafka server: Unexpected")
    assert both.name == "ErrUnknown"
    only = both.for_topics(["b"])
    assert only is not None
    assert only.name == "ErrInvalidTopic"
    assert both.for_topics(["c"]) is None


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
    snapshot = snapshot_from_response(response)
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
