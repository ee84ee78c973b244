"""Produce (key 0): append record batches to partitions. From version 3, where batches have magic 2."""

from dataclasses import dataclass

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionProduceData:
    """Source: ProduceRequest.json. `records` are bytes for `client.wire.records`."""

    index: int
    records: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicProduceData:
    """Source: ProduceRequest.json."""

    name: str
    partition_data: tuple[PartitionProduceData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceRequest:
    """Source: ProduceRequest.json. `acks`: 0 asks for no response at all, 1 for the leader, -1 for all in sync."""

    transactional_id: str | None = None
    acks: int
    timeout_ms: int
    topic_data: tuple[TopicProduceData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchIndexAndErrorMessage:
    """Source: ProduceResponse.json. A record for which its batch was dropped."""

    batch_index: int
    batch_index_error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionProduceResponse:
    """Source: ProduceResponse.json. `log_append_time_ms` is -1 where the records keep their own times."""

    index: int
    error_code: int = 0
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    record_errors: tuple[BatchIndexAndErrorMessage, ...] = ()
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicProduceResponse:
    """Source: ProduceResponse.json."""

    name: str
    partition_responses: tuple[PartitionProduceResponse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceResponse:
    """Source: ProduceResponse.json. Its tagged fields (new leaders, from version 10) are skipped."""

    responses: tuple[TopicProduceResponse, ...] = ()
    throttle_time_ms: int = 0


PRODUCE = Api(key=0, module="produce", request=ProduceRequest, response=ProduceResponse, versions=range(3, 13))
