"""Metadata (key 3): which brokers there are, where they listen, and who leads each partition."""

from dataclasses import dataclass
from uuid import UUID

from client.wire.api import Api

OPERATIONS_NOT_REQUESTED = -(2**31)
"""Authorized operations were not asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataRequestTopic:
    """Source: MetadataRequest.json. Asked by name, or from version 10 by id."""

    name: str | None = None
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataRequest:
    """Source: MetadataRequest.json. `topics` None asks for all topics (an empty tuple does in version 0, where null
    cannot be sent)."""

    topics: tuple[MetadataRequestTopic, ...] | None = None
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataResponseBroker:
    """Source: MetadataResponse.json. Host and port are what the broker advertises."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataResponsePartition:
    """Source: MetadataResponse.json. `leader_id` is -1 where there is no leader."""

    error_code: int = 0
    partition_index: int
    leader_id: int
    leader_epoch: int = -1
    replica_nodes: tuple[int, ...] = ()
    isr_nodes: tuple[int, ...] = ()
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataResponseTopic:
    """Source: MetadataResponse.json."""

    error_code: int = 0
    name: str | None = None
    topic_id: UUID | None = None
    is_internal: bool = False
    partitions: tuple[MetadataResponsePartition, ...] = ()
    topic_authorized_operations: int = OPERATIONS_NOT_REQUESTED


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataResponse:
    """Source: MetadataResponse.json. `controller_id` is -1 where there is none, and in version 0."""

    throttle_time_ms: int = 0
    brokers: tuple[MetadataResponseBroker, ...] = ()
    cluster_id: str | None = None
    controller_id: int = -1
    topics: tuple[MetadataResponseTopic, ...] = ()
    cluster_authorized_operations: int = OPERATIONS_NOT_REQUESTED
    error_code: int = 0


METADATA = Api(
    key=3, module="metadata", request=MetadataRequest, response=MetadataResponse, versions=range(14), cacheable=True
)
