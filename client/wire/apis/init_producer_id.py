"""InitProducerId (key 22): a producer id and epoch, so that a broker can tell a repeated batch (KIP-98)."""

from dataclasses import dataclass

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class InitProducerIdRequest:
    """Source: InitProducerIdRequest.json. `transactional_id` None: an idempotent producer without transactions."""

    transactional_id: str | None = None
    transaction_timeout_ms: int = 60_000
    producer_id: int = -1
    producer_epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class InitProducerIdResponse:
    """Source: InitProducerIdResponse.json."""

    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0


INIT_PRODUCER_ID = Api(
    key=22,
    module="init_producer_id",
    request=InitProducerIdRequest,
    response=InitProducerIdResponse,
    versions=range(6),
)
