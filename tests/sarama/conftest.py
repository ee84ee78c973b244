"""Brokers that do as they are told, on virtual time: what the profile does is watched where no timer is late."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from client.errors import ClientError
from client.events import Tracer, TraceValue
from client.net.resolver import TableResolver
from client.runtime import ClientRuntime
from client.wire.apis.api_versions import ApiVersion, ApiVersionsResponse
from client.wire.apis.init_producer_id import InitProducerIdResponse
from client.wire.apis.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from client.wire.apis.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from client.wire.batch_header import BatchHeader
from client.wire.messages import Request, decode_request, encode_response
from client.wire.records import decode_batches
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.levers import FLOWS, PacketAction

sys.path.insert(0, str(Path(__file__).parent))

from sarama_program import Program, connect

PORT = 9092
OLD, NEW = "1.27.2", "1.60.1"
RANGES = {0: (3, 9), 3: (0, 12), 18: (0, 4), 22: (0, 4)}
"""What the brokers speak, by API key."""

ROUND_TRIPS_S = 0.001
"""A simulated round trip takes 60 us; a run has a few."""


class Lab:
    """`brokers` scripted brokers on hosts of their own.

    `produce`, `metadata` and `producer_id_errors` hold error codes to answer next. `log` gets (broker, topic,
    partition, value)
    of every record that a broker takes, `headers` each batch's header, `received_requests` (broker, API, version) of
    each request.
    """

    def __init__(self, loop: SimLoop, version: str, brokers: int, leaders: tuple[int, ...]) -> None:
        self.loop = loop
        self.version = version
        self.ids = tuple(range(1, brokers + 1))
        self.leaders = leaders
        self.events: list[tuple[float, str, dict[str, TraceValue]]] = []
        self.log: list[tuple[int, str, int, bytes]] = []
        self.produce: list[int] = []
        self.metadata: list[int] = []
        self.producer_id_errors: list[int] = []
        self.epoch = 0
        self.received_requests: list[tuple[int, str, int]] = []
        self.headers: list[BatchHeader] = []
        self.ranges = dict(RANGES)
        self.highest_api_versions: int | None = None
        self.refuses_api_versions_above_0 = False
        self.delay_s = 0.0
        self.throttle_ms = 0
        self.advertised_brokers: tuple[int, ...] | None = None
        self.drop_connection_once = False
        self.wrong_correlation_once = False
        self.inverted_response_once = False
        self.silent = False
        self.silent_apis: tuple[str, ...] = ()
        tracer = Tracer(loop.time, lambda at_ns, kind, fields: self.events.append((at_ns / 1e9, kind, fields)))
        self.runtime = ClientRuntime(Random(1), TableResolver(), tracer)
        self._hosts = {}
        for broker in self.ids:
            host = self._hosts[broker] = loop.new_host(f"broker-{broker}")
            host.spawn(self._listen(broker), name=f"broker-{broker}")

    async def _listen(self, broker: int) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    size = int.from_bytes(await reader.readexactly(4), "big")
                    request = decode_request(await reader.readexactly(size))
                    if self.drop_connection_once:
                        self.drop_connection_once = False
                        writer.transport.abort()
                        return
                    self.received_requests.append((broker, request.api.name, request.version))
                    response = self._respond(broker, request)
                    if response is not None:
                        self.loop.call_later(self.delay_s, writer.write, response)
            except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                writer.transport.abort()

        await asyncio.start_server(handle, f"127.0.2.{broker}", PORT)

    def _respond(self, broker: int, request: Request) -> bytes | None:
        if self.silent or request.api.name in self.silent_apis:
            return None
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        body: Any = self._answers[request.api.name](broker, request.body)
        if request.api.name == "Produce" and request.body.acks == 0:
            return None
        correlation_id = request.correlation_id
        if self.wrong_correlation_once:
            self.wrong_correlation_once = False
            correlation_id += 1000
        frame = encode_response(body, version=request.version, correlation_id=correlation_id)
        if self.inverted_response_once:
            self.inverted_response_once = False
            return frame[:4] + bytes(byte ^ 0xFF for byte in frame[4:])  # behind its length
        return frame

    @property
    def _answers(self) -> dict[str, Callable[[int, Any], Any]]:
        return {
            "ApiVersions": lambda *_: ApiVersionsResponse(api_keys=self._api_versions()),
            "Metadata": lambda *_: self._metadata(),
            "Produce": self._produce,
            "InitProducerId": lambda *_: self._init_producer_id(),
        }

    def _api_versions(self) -> tuple[ApiVersion, ...]:
        return tuple(ApiVersion(api_key=k, min_version=a, max_version=b) for k, (a, b) in self.ranges.items())

    def _refusal(self, request: Request) -> bytes | None:
        """Error 35 to an ApiVersions request of too high a version, in the form of version 0."""
        if request.api.name != "ApiVersions":
            return None
        highest = self.highest_api_versions
        if self.refuses_api_versions_above_0 and request.version > 0:
            rows: tuple[ApiVersion, ...] = ()
        elif highest is not None and request.version > highest:
            rows = (ApiVersion(api_key=18, min_version=0, max_version=highest),)
        else:
            return None
        body = ApiVersionsResponse(error_code=35, api_keys=rows)
        return encode_response(body, version=0, correlation_id=request.correlation_id)

    def _init_producer_id(self) -> InitProducerIdResponse:
        error = self.producer_id_errors.pop(0) if self.producer_id_errors else 0
        return InitProducerIdResponse(error_code=error, producer_id=-1 if error else 4711, producer_epoch=self.epoch)

    def _metadata(self) -> MetadataResponse:
        error = self.metadata.pop(0) if self.metadata else 0
        partitions = tuple(
            MetadataResponsePartition(
                error_code=error if error == 5 else 0,
                partition_index=index,
                leader_id=-1 if error == 5 else leader,
                replica_nodes=(leader,),
                isr_nodes=(leader,),
            )
            for index, leader in enumerate(self.leaders)
        )
        topic = MetadataResponseTopic(name="orders", error_code=error if error != 5 else 0, partitions=partitions)
        named = self.ids if self.advertised_brokers is None else self.advertised_brokers
        brokers = tuple(MetadataResponseBroker(node_id=i, host=f"127.0.2.{i}", port=PORT) for i in named)
        return MetadataResponse(brokers=brokers, controller_id=1, topics=(topic,))

    def _produce(self, broker: int, request: Any) -> ProduceResponse:
        topics = []
        for topic in request.topic_data:
            partitions = []
            for one in topic.partition_data:
                error = self.produce.pop(0) if self.produce else 0
                base = len([entry for entry in self.log if entry[2] == one.index])
                if error == 0:
                    for batch in decode_batches(one.records):
                        self.headers.append(batch.header)
                        self.log += [(broker, topic.name, one.index, record.value) for record in batch.records]
                partitions.append(PartitionProduceResponse(index=one.index, error_code=error, base_offset=base))
            topics.append(TopicProduceResponse(name=topic.name, partition_responses=tuple(partitions)))
        return ProduceResponse(responses=tuple(topics), throttle_time_ms=self.throttle_ms)

    async def connect(self, bootstrap: tuple[int, ...] = (1,), **settings: Any) -> Program:
        """`Net_ReadTimeout=2` sets Net.ReadTimeout; without more, R is 2 s and D is 1 s."""
        given = {"Net.ReadTimeout": 2.0, "Net.DialTimeout": 1.0, "Net.WriteTimeout": 3.0}
        given |= {name.replace("_", "."): value for name, value in settings.items()}
        addresses = [(f"127.0.2.{broker}", PORT) for broker in bootstrap]
        return await connect(self.runtime, self.version, given, addresses)

    @contextmanager
    def packet_verdict(self, verdict: PacketAction, *brokers: int) -> Iterator[None]:
        """Every packet to and from these brokers (all without any) is dropped or refused."""
        with ExitStack() as stack:
            for broker in brokers or self.ids:
                for flow in FLOWS:
                    if verdict is PacketAction.DROP or flow == "to_broker":
                        rule = PacketRule((f"127.0.2.{broker}", PORT), flow, "any", verdict)
                        stack.enter_context(self.loop.network.rule(rule))
            yield

    def reset_connections(self, broker: int) -> None:
        """Every connection to it gets a TCP reset."""
        for tcp in tuple(self.loop.network.sockets.values()):
            if tcp.local == (f"127.0.2.{broker}", PORT):
                tcp.reset()

    def kill(self, *brokers: int) -> None:
        for broker in brokers or self.ids:
            self._hosts[broker].kill()

    async def assert_send_fails(self, producer: Program, *, after_s: float) -> ClientError:
        """A send fails after so long, and its waits explain the time: nothing is left over, nothing counted twice."""
        elapsed_s, error = await self.timed(producer.send("probe", "orders", 0, None, b"x"))
        assert elapsed_s == pytest.approx(after_s, abs=ROUND_TRIPS_S)
        assert sum(self.waited().values()) == pytest.approx(elapsed_s, abs=ROUND_TRIPS_S)
        assert error is not None
        return error

    async def connect_and_warm_up(self, bootstrap: tuple[int, ...] = (1,), **settings: Any) -> Program:
        """A producer that has sent before."""
        producer = await self.connect(bootstrap, **settings)
        await producer.send("warm_up", "orders", 0, None, b"x")
        return producer

    async def timed(self, work: Awaitable[object]) -> tuple[float, ClientError | None]:
        """How long it took, in virtual seconds, and what it raised. Forgets the events before it."""
        self.events.clear()
        started_at = self.loop.time()
        try:
            await work
        except ClientError as error:
            return self.loop.time() - started_at, error
        return self.loop.time() - started_at, None

    def of(self, kind: str, **fields: TraceValue) -> list[dict[str, TraceValue]]:
        return [f for _, k, f in self.events if k == kind and all(f.get(n) == v for n, v in fields.items())]

    def waited(self) -> dict[str, float]:
        """Seconds spent in waits, by setting."""
        began: list[tuple[float, dict[str, TraceValue]]] = []
        total: dict[str, float] = {}
        for at_s, kind, fields in self.events:
            if kind == "wait_started":
                began.append((at_s, fields))
            elif kind == "wait_ended":
                found = next(b for b in began if all(b[1].get(n) == v for n, v in fields.items() if n != "outcome"))
                began.remove(found)
                setting = str(fields["waiting_on"])
                total[setting] = total.get(setting, 0.0) + at_s - found[0]
        return total


Check = Callable[[Lab], Awaitable[None]]


@pytest.fixture
def on_virtual_time() -> Callable[..., Lab]:
    """`on_virtual_time(check, brokers=3)` runs `check(lab)` and returns the lab."""

    def run(
        check: Check, *, version: str = OLD, brokers: int = 1, leaders: tuple[int, ...] = (1,), seed: int = 7
    ) -> Lab:
        labs = []

        async def main(loop: SimLoop) -> None:
            labs.append(Lab(loop, version, brokers, leaders))
            await asyncio.sleep(0.01)
            await check(labs[0])

        simulate(main, Random(seed))
        return labs[0]

    return run


@pytest.fixture(params=[OLD, NEW])
def on_each_release(on_virtual_time: Callable[..., Lab], request: pytest.FixtureRequest) -> Callable[..., Lab]:
    """`on_virtual_time` with one release after the other; the lab's `version` says which."""
    return partial(on_virtual_time, version=request.param)
