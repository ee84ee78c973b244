"""The id and epoch of an idempotent producer, and the sequence numbers of its messages.

Source: Shopify/sarama v1.27.2 async_producer.go (transactionManager), client.go (InitProducerID); IBM/sarama v1.60.1
transaction_manager.go. Transactions are left out.
"""

from client.errors import ClientError
from client.golang import sleep
from client.profiles.sarama.client import Client
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import GoPanic
from client.profiles.sarama.kerrors import CODES
from client.wire.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1

_HIGHEST_EPOCH = 2**15 - 1
_RETRIABLE = frozenset(
    CODES[name]
    for name in ("ErrConsumerCoordinatorNotAvailable", "ErrNotCoordinatorForConsumer", "ErrOffsetsLoadInProgress")
)
_NIL_DEREFERENCE = "invalid memory address or nil pointer dereference"


class TransactionManager:
    """Without an id as long as the producer is not idempotent."""

    def __init__(self) -> None:
        self.producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_PRODUCER_EPOCH
        self._sequence_numbers: dict[tuple[str, int], int] = {}

    def next_sequence_number(self, topic: str, partition: int) -> tuple[int, int]:
        """The number and the epoch it belongs to. Counts up."""
        number = self._sequence_numbers.get((topic, partition), 0)
        self._sequence_numbers[topic, partition] = number + 1
        return number, self.producer_epoch

    def bump_epoch(self) -> None:
        """A numbered message will never arrive, so the sequence starts again in a new epoch. Beyond the highest epoch
        Go's int16 overflows to the lowest."""
        self.producer_epoch += 1
        if self.producer_epoch > _HIGHEST_EPOCH:
            self.producer_epoch -= 2 * (_HIGHEST_EPOCH + 1)
        self._sequence_numbers = dict.fromkeys(self._sequence_numbers, 0)

    @property
    def exhausted(self) -> bool:
        """Whether the epoch cannot be bumped any more."""
        return self.producer_epoch == _HIGHEST_EPOCH


async def new_transaction_manager(conf: Config, client: Client) -> TransactionManager:
    """With a new producer id where the producer is idempotent. Raises ClientError."""
    manager = TransactionManager()
    if conf.idempotent:
        ask = _request_id_with_retries if conf.release.retries_init_producer_id else _request_id_once_per_broker
        answer = await ask(conf, client)
        manager.producer_id, manager.producer_epoch = answer.producer_id, answer.producer_epoch
    return manager


async def _request_id_once_per_broker(_: Config, client: Client) -> InitProducerIdResponse:
    """client.InitProducerID. Upstream's caller dereferences a missing answer, and ignores the error in an answer."""
    while True:
        broker = await client.registry.pick_broker()
        if broker is None:
            raise GoPanic(_NIL_DEREFERENCE)
        try:
            return await broker.init_producer_id(InitProducerIdRequest(transaction_timeout_ms=0))
        except ClientError:
            await broker.close()
            await client.registry.deregister(broker)


async def _request_id_with_retries(conf: Config, client: Client) -> InitProducerIdResponse:
    """transactionManager.initProducerId."""
    backoff = conf.transaction_retry_backoff
    error: ClientError | None = None
    for _ in range(conf.transaction_retry_max + 1):
        broker = await client.registry.pick_broker()
        if broker is None:
            raise GoPanic(_NIL_DEREFERENCE)
        try:
            answer = await broker.init_producer_id(InitProducerIdRequest(transaction_timeout_ms=0))
        except ClientError as failed:
            error = failed
        else:
            if answer.error_code == CODES["ErrNoError"]:
                return answer
            error = conf.errors.kerror_from_code(answer.error_code)
            if answer.error_code not in _RETRIABLE:
                raise error
        if backoff.seconds > 0:
            with client.runtime.tracer.sleeping(backoff, "producer id back-off"):
                await sleep(backoff.seconds)
    assert error is not None
    raise error
