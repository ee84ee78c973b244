"""CreateTopics (key 19): make topics with so many partitions. From version 2, which today's brokers still know."""

from dataclasses import dataclass

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatableReplicaAssignment:
    """Source: CreateTopicsRequest.json."""

    partition_index: int
    broker_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatableTopicConfig:
    """Source: CreateTopicsRequest.json."""

    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatableTopic:
    """Source: CreateTopicsRequest.json. `num_partitions` and `replication_factor` are -1 where they are assigned by
    hand, or from version 4 on for the broker's defaults."""

    name: str
    num_partitions: int
    replication_factor: int
    assignments: tuple[CreatableReplicaAssignment, ...] = ()
    configs: tuple[CreatableTopicConfig, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicsRequest:
    """Source: CreateTopicsRequest.json. `timeout_ms` is how long the broker may wait until the topics are there."""

    topics: tuple[CreatableTopic, ...]
    timeout_ms: int
    validate_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatableTopicConfigs:
    """Source: CreateTopicsResponse.json."""

    name: str
    value: str | None = None
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatableTopicResult:
    """Source: CreateTopicsResponse.json. Numbers and configurations from version 5 on."""

    name: str
    error_code: int = 0
    error_message: str | None = None
    num_partitions: int = -1
    replication_factor: int = -1
    configs: tuple[CreatableTopicConfigs, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicsResponse:
    """Source: CreateTopicsResponse.json."""

    throttle_time_ms: int = 0
    topics: tuple[CreatableTopicResult, ...] = ()


CREATE_TOPICS = Api(
    key=19, module="create_topics", request=CreateTopicsRequest, response=CreateTopicsResponse, versions=range(2, 7)
)
