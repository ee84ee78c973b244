"""Builds the codecs of the messages that the profile sends and reads: the first use of each takes milliseconds."""

from functools import cache

from client.profiles.sarama.releases import RELEASES, request_version
from client.wire.apis.api_versions import API_VERSIONS
from client.wire.apis.metadata import METADATA
from client.wire.apis.produce import PRODUCE
from client.wire.messages import prepare as prepare_messages
from client.wire.records import Record, encode_batch


@cache
def prepare() -> None:
    """Of every release with its default Kafka version; another version's are built by the first operation."""
    encode_batch([Record(value=b"")], base_timestamp_ms=0)
    for release in RELEASES.values():
        version = tuple(int(part) for part in release.default_kafka_version.split("."))
        prepare_messages(METADATA, request_version(release.metadata_versions, version))
        prepare_messages(PRODUCE, request_version(release.produce_versions, version))
        if release.api_versions_versions:
            prepare_messages(API_VERSIONS, request_version(release.api_versions_versions, version))
            prepare_messages(API_VERSIONS, 0)
