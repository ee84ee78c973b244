"""What would otherwise be loaded or compiled while an operation is timed."""

from client.profiles.kafka_go.protocol_conn import SENT_VERSIONS
from client.wire.messages import prepare as prepare_messages
from client.wire.records import Record, encode_batch


def prepare() -> None:
    """The codecs of every version that any release sends to a broker of today, and that of records."""
    for api, version in SENT_VERSIONS:
        prepare_messages(api, version)
    encode_batch([Record(value=b"")], base_timestamp_ms=0)
