"""The message on its way through the producer.

Source: Shopify/sarama v1.27.2 async_producer.go, IBM/sarama v1.60.1 async_producer.go (ProducerMessage).
"""

from dataclasses import dataclass

from client.errors import ClientError
from client.golang import Channel
from client.operations import Send

SYN = 1
"""First message from partitionProducer to brokerProducer."""
FIN = 2
"""Final message from partitionProducer to brokerProducer and back."""
SHUTDOWN = 4
"""Start the shutdown process."""

_MAXIMUM_RECORD_OVERHEAD_BYTES = 5 * 5 + 10 + 1


@dataclass(slots=True, kw_only=True, eq=False)
class ProducerMessage:
    """`operation` is the id of the message's operation in the trace; None for the producer's own markers.

    `explicit_partition` is what the caller asks for; `partition` and `offset` are filled in on the way. An idempotent
    producer's message has a number within its epoch from `has_sequence` on. `expectation` gets the error, or None, when
    the message's fate is known; `attempt_in_progress` says that an attempt is under way.
    """

    topic: str = ""
    key: bytes | None = None
    value: bytes = b""
    explicit_partition: int | None = None
    operation: str | None = None
    partition: int = 0
    offset: int = -1
    retries: int = 0
    flags: int = 0
    sequence_number: int = 0
    producer_epoch: int = 0
    has_sequence: bool = False
    expectation: "Channel[ProducerError | None] | None" = None
    attempt_in_progress: bool = False

    def byte_size(self) -> int:
        """An upper bound of what the message takes in a batch."""
        return _MAXIMUM_RECORD_OVERHEAD_BYTES + len(self.key or b"") + len(self.value)

    def clear(self) -> None:
        self.flags = 0
        self.retries = 0
        self.sequence_number = 0
        self.producer_epoch = 0
        self.has_sequence = False


def new_message(operation: str, asked: Send) -> ProducerMessage:
    """The message of a send that the lab asked for."""
    return ProducerMessage(
        operation=operation,
        topic=asked.topic,
        explicit_partition=asked.partition,
        key=asked.key,
        value=asked.value,
    )


@dataclass(frozen=True, slots=True)
class ProducerError:
    """A message that was not delivered, and why."""

    msg: ProducerMessage
    err: ClientError
