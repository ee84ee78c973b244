"""ListOffsets (key 2): the first or last offset of a partition, or the first at or after a time."""

from dataclasses import dataclass

from client.wire.api import Api

LATEST = -1
"""`timestamp` that asks for the offset behind the last record."""
EARLIEST = -2
"""`timestamp` that asks for the first offset."""
MAX_TIMESTAMP = -3
"""`timestamp` that asks for the record with the highest time (from version 7, KIP-734)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsPartition:
    """Source: ListOffsetsRequest.json. `timestamp` in milliseconds, or one of LATEST, EARLIEST, MAX_TIMESTAMP."""

    partition_index: int
    current_leader_epoch: int = -1
    timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsTopic:
    """Source: ListOffsetsRequest.json."""

    name: str
    partitions: tuple[ListOffsetsPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsRequest:
    """Source: ListOffsetsRequest.json. `replica_id` is -1 for a consumer."""

    replica_id: int = -1
    isolation_level: int = 0
    topics: tuple[ListOffsetsTopic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsPartitionResponse:
    """Source: ListOffsetsResponse.json. `offset` is -1 where no record is that late."""

    partition_index: int
    error_code: int = 0
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsTopicResponse:
    """Source: ListOffsetsResponse.json."""

    name: str
    partitions: tuple[ListOffsetsPartitionResponse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsResponse:
    """Source: ListOffsetsResponse.json."""

    throttle_time_ms: int = 0
    topics: tuple[ListOffsetsTopicResponse, ...] = ()


LIST_OFFSETS = Api(
    key=2, module="list_offsets", request=ListOffsetsRequest, response=ListOffsetsResponse, versions=range(1, 9)
)
