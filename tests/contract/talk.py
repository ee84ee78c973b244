"""A raw Kafka connection for contract checks: requests go out, answers are awaited or not, and an end is an end."""

import asyncio
from typing import Any

from client.wire.api import api_for_body
from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.metadata import MetadataRequest
from client.wire.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from client.wire.records import Record, encode_batch
from harness.environments.world import World

TOPIC = "orders"
REPLICATED = "copied"
"""A topic of one partition with two replicas, where a check's cluster has it."""

VERSIONS = {ApiVersionsRequest: 0, MetadataRequest: 1, ProduceRequest: 3}


class WrongAnswerError(Exception):
    """An answer under another request's correlation id."""


class Talk:
    """One connection to a broker's advertised address."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._frames = FrameReader()
        self._whole: list[bytes] = []
        self._sent = 0
        self._answered = 0

    @classmethod
    async def to(cls, world: World, broker: int = 1) -> "Talk":
        return cls(*await asyncio.open_connection(*world.advertised_address(broker)))

    def send(self, body: object, *, version: int | None = None) -> None:
        """A `version` other than that of VERSIONS is for requests that are refused: `answer` reads none to it."""
        self._sent += 1
        version = VERSIONS[type(body)] if version is None else version
        self.writer.write(encode_request(body, version=version, correlation_id=self._sent, client_id="talk"))

    async def answer(self, body: object, *, within_s: float = 10.0) -> Any:
        """The next answer, which is one to `body`. Raises TimeoutError, ConnectionError, EOFError, WrongAnswerError."""
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + within_s):
            while not self._whole:
                data = await self.reader.read(65536)
                if not data:
                    raise EOFError
                self._whole = list(self._frames.feed(data))
        correlation_id, found = decode_response(api_for_body(type(body)), VERSIONS[type(body)], self._whole.pop(0))
        self._answered += 1
        if correlation_id != self._answered:
            raise WrongAnswerError(f"answer {correlation_id} instead of {self._answered}")
        return found

    async def ask(self, body: object, *, within_s: float = 10.0) -> Any:
        self.send(body)
        return await self.answer(body, within_s=within_s)

    def abandon(self) -> None:
        self.writer.transport.abort()


def produce(
    value: bytes, *, topic: str = TOPIC, partition: int = 0, acks: int = -1, timeout_ms: int = 1_000
) -> ProduceRequest:
    """One record, to be acknowledged."""
    batch = encode_batch([Record(value=value, key=b"k")], base_timestamp_ms=1_000)
    data = PartitionProduceData(index=partition, records=batch)
    return ProduceRequest(
        acks=acks, timeout_ms=timeout_ms, topic_data=(TopicProduceData(name=topic, partition_data=(data,)),)
    )


def produced(answer: Any) -> tuple[int, int]:
    """Error code and offset of the only partition in a Produce answer."""
    (topic,) = answer.responses
    (partition,) = topic.partition_responses
    return partition.error_code, partition.base_offset


async def values(world: World, partition: int = 0) -> list[bytes | None]:
    return [record.value for record in await world.read_log(TOPIC, partition)]
