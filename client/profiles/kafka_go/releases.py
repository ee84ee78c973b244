"""Releases of kafka-go that the profile reproduces: one row a release, one field an upstream change.

Each field says what the change does, where it stands in the source, and its commit or pull request in
segmentio/kafka-go. A release that is not here is refused: neighbours differ in just what the lab measures.
"""

from dataclasses import dataclass

from client.errors import SettingError
from client.profiles.kafka_go.errors import ErrorCatalog
from client.profiles.kafka_go.kerrors import KERRORS_0_4_8, KERRORS_0_4_50


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """`errors` are its error values: the codes that it knows, and from #964 on the texts inside WriteErrors."""

    version: str
    errors: ErrorCatalog

    clears_metadata_error: bool
    """Metadata that arrives clears the error that a pool kept. Without that, a pool whose very first metadata attempt
    fails returns the error for ever. transport.go (update), #576; issue #582."""
    topics_of_messages: bool
    """A Writer without a topic takes that of each message, and a Writer's may stay empty. writer.go (chooseTopic),
    #438."""
    flexible_create_topics: bool
    """CreateTopics v5. protocol/createtopics, #438."""
    unwraps_temporary: bool
    """isTemporary looks into wrapped errors, so that time-outs of a Produce are retried. error.go, #616; issue #614."""
    retries_transient_errors: bool
    """Refused, reset, broken pipe and unexpected EOF are retried. error.go (isTransientNetworkError), #668."""
    refreshes_created_topics_only: bool
    """After CreateTopics, metadata is awaited for the topics that were created, and after a success alone. Before, for
    all that were asked for, until the caller's deadline. transport.go (roundTrip), #673; issue #672."""
    orders_batches: bool
    """One goroutine a partition writes its batches one after the other (partitionWriter). writer.go, #716."""
    creates_topics: bool
    """AllowAutoTopicCreation sends a metadata request for a topic that is not in the cache. transport.go, #775."""
    asks_for_authorized_operations: bool
    """Metadata requests ask which operations are allowed, which costs brokers a look at every topic. transport.go
    (discover), until #821."""
    fills_in_ports_first: bool
    """An address without a port gets 9092 before a Resolver is asked, whose port is then never taken. dialer.go
    (splitHostPort), #780."""
    wraps_dial_errors: bool
    """A Dialer says in its errors what it was about: `failed to dial: ...`. dialer.go, #846."""
    negotiates_metadata: bool
    """A Conn asks for ApiVersions before its first metadata, which is version 6 then: one round trip more. conn.go
    (ReadPartitions), #1013."""
    counts_headers: bool
    """A message's size has its headers in it: one byte more where it has none. message.go (totalSize), commit
    16e5c35."""


_V0_4_8 = Release(
    version="0.4.8",
    errors=ErrorCatalog(KERRORS_0_4_8, lists_write_errors=False),
    clears_metadata_error=False,
    topics_of_messages=False,
    flexible_create_topics=False,
    unwraps_temporary=False,
    retries_transient_errors=False,
    refreshes_created_topics_only=False,
    orders_batches=False,
    creates_topics=False,
    asks_for_authorized_operations=True,
    fills_in_ports_first=False,
    wraps_dial_errors=False,
    negotiates_metadata=False,
    counts_headers=False,
)

_V0_4_9 = Release(
    version="0.4.9",
    errors=ErrorCatalog(KERRORS_0_4_8, lists_write_errors=False),
    clears_metadata_error=True,
    topics_of_messages=True,
    flexible_create_topics=True,
    unwraps_temporary=False,
    retries_transient_errors=False,
    refreshes_created_topics_only=False,
    orders_batches=False,
    creates_topics=False,
    asks_for_authorized_operations=True,
    fills_in_ports_first=False,
    wraps_dial_errors=False,
    negotiates_metadata=False,
    counts_headers=False,
)

_V0_4_50 = Release(
    version="0.4.50",
    errors=ErrorCatalog(KERRORS_0_4_50, lists_write_errors=True),
    clears_metadata_error=True,
    topics_of_messages=True,
    flexible_create_topics=True,
    unwraps_temporary=True,
    retries_transient_errors=True,
    refreshes_created_topics_only=True,
    orders_batches=True,
    creates_topics=True,
    asks_for_authorized_operations=False,
    fills_in_ports_first=True,
    wraps_dial_errors=True,
    negotiates_metadata=True,
    counts_headers=True,
)

RELEASES = {release.version: release for release in (_V0_4_8, _V0_4_9, _V0_4_50)}
"""By version, oldest first."""


def find_release(version: str) -> Release:
    """Raises SettingError for a version that is not reproduced."""
    try:
        return RELEASES[version]
    except KeyError:
        raise SettingError("version", f"kafka-go {version} is not reproduced, only {', '.join(RELEASES)}") from None
