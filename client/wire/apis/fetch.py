"""Fetch (key 1): read record batches. Up to version 12, the last that names topics; later ones use ids."""

from dataclasses import dataclass

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPartition:
    """Source: FetchRequest.json."""

    partition: int
    current_leader_epoch: int = -1
    fetch_offset: int
    last_fetched_epoch: int = -1
    log_start_offset: int = -1
    partition_max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTopic:
    """Source: FetchRequest.json."""

    topic: str
    partitions: tuple[FetchPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenTopic:
    """Source: FetchRequest.json. Partitions that an incremental fetch session drops (KIP-227)."""

    topic: str
    partitions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """Source: FetchRequest.json. The broker answers when `min_bytes` are there or `max_wait_ms` are over."""

    replica_id: int = -1
    max_wait_ms: int
    min_bytes: int
    max_bytes: int = 2**31 - 1
    isolation_level: int = 0
    session_id: int = 0
    session_epoch: int = -1
    topics: tuple[FetchTopic, ...]
    forgotten_topics_data: tuple[ForgottenTopic, ...] = ()
    rack_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedTransaction:
    """Source: FetchResponse.json."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionData:
    """Source: FetchResponse.json. `records` are bytes for `client.wire.records`; the last batch may be cut."""

    partition_index: int
    error_code: int = 0
    high_watermark: int
    last_stable_offset: int = -1
    log_start_offset: int = -1
    aborted_transactions: tuple[AbortedTransaction, ...] | None = None
    preferred_read_replica: int = -1
    records: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchableTopicResponse:
    """Source: FetchResponse.json."""

    topic: str
    partitions: tuple[PartitionData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResponse:
    """Source: FetchResponse.json. `session_id` 0: no session, the next request names all partitions again."""

    throttle_time_ms: int = 0
    error_code: int = 0
    session_id: int = 0
    responses: tuple[FetchableTopicResponse, ...] = ()


FETCH = Api(key=1, module="fetch", request=FetchRequest, response=FetchResponse, versions=range(4, 13))
