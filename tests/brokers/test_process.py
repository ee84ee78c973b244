"""Protects brokers that are processes: state and life come over the channel, kills lose nothing, zombies are fenced."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from client.wire import errors
from client.wire.apis.metadata import METADATA, MetadataRequest
from client.wire.apis.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from client.wire.records import Record, decode_batches, encode_batch
from harness.brokers.cluster import BrokerFailed
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.file_log import read_valid_batches
from harness.brokers.embedded.handlers import prepare_all
from harness.brokers.embedded.link import BrokerLink
from harness.brokers.embedded.process import run_broker
from harness.levers import MoveLeader
from harness.plan import ClusterShape, Topic

SHAPE = ClusterShape(brokers=2, topics=(Topic(name="orders", replication=2, leaders=(1,)),))
LIMIT_S = 20


class Forked:
    """Broker processes of one test, all of them gone at its end."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.pids: list[int] = []
        self.links: list[BrokerLink] = []
        self.channels: list[socket.socket] = []

    async def start(self, broker: int, controller: Controller, port: int = 0) -> tuple[int, BrokerLink, int]:
        """Process id, link and port of a broker that is ready."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                for other in (ours, *self.channels):
                    os.close(other.fileno())
                log_file = self.logs / f"broker-{broker}.txt"
                code = run_broker(
                    broker, listen=("127.0.0.1", port), channel_fd=theirs.detach(), logs=self.logs, log_file=log_file
                )
            finally:
                os._exit(code)
        theirs.close()
        self.pids.append(pid)
        self.channels.append(ours)
        link = await BrokerLink.from_socket(broker, ours)
        self.links.append(link)
        controller.attach(link.push)
        _, bound = await link.ready()
        return pid, link, bound

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.pids.remove(pid)


@pytest.fixture
def forked(tmp_path: Path) -> Iterator[Forked]:
    prepare_all()
    one = Forked(tmp_path)
    yield one
    for pid in one.pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.fixture
def controller() -> Controller:
    return Controller(SHAPE, lambda b: (f"127.0.2.{b}", 9092))


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT_S):
            await body()

    asyncio.run(limited())


class Client:
    """One connection; `produce` returns the error code and the offset."""

    @classmethod
    async def to(cls, port: int) -> "Client":
        one = cls()
        one.reader, one.writer = await asyncio.open_connection("127.0.0.1", port)
        return one

    async def ask(self, body: object, api: Any, version: int) -> Any:
        self.writer.write(encode_request(body, version=version, correlation_id=1, client_id=None))
        frames = FrameReader()
        while True:
            data = await self.reader.read(65536)
            assert data, "the broker closed the connection"
            for payload in frames.feed(data):
                return decode_response(api, version, payload)[1]

    async def produce(self, value: bytes) -> tuple[int, int]:
        batch = encode_batch([Record(value=value)], base_timestamp_ms=0)
        data = TopicProduceData(name="orders", partition_data=(PartitionProduceData(index=0, records=batch),))
        answer = await self.ask(ProduceRequest(acks=-1, timeout_ms=0, topic_data=(data,)), PRODUCE, 3)
        found = answer.responses[0].partition_responses[0]
        return found.error_code, found.base_offset


def stored(logs: Path) -> list[bytes | None]:
    return [r.value for b in decode_batches(read_valid_batches(logs, "orders", 0)) for r in b.records]


def test_states_go_out_and_the_end_of_the_channel_ends_the_broker(forked: Forked, controller: Controller) -> None:
    async def body() -> None:
        pid, link, port = await forked.start(1, controller)
        await link.applied(controller.state.epoch)  # the one that it began with
        client = await Client.to(port)
        assert (await client.ask(MetadataRequest(), METADATA, 5)).topics[0].partitions[0].leader_id == 1
        await link.applied(controller.change(MoveLeader(topic="orders", partition=0, to=2)).epoch)
        assert (await client.ask(MetadataRequest(), METADATA, 5)).topics[0].partitions[0].leader_id == 2
        os.kill(pid, signal.SIGINT)  # a Ctrl-C in the terminal is not the broker's business
        assert (await client.produce(b"x"))[0] == errors.NOT_LEADER_OR_FOLLOWER
        link.close()
        assert await client.reader.read(1) == b""
        _, status = os.waitpid(pid, 0)
        forked.pids.remove(pid)
        assert os.waitstatus_to_exitcode(status) == 0

    run(body)


def test_a_kill_loses_nothing_and_a_new_process_goes_on(forked: Forked, controller: Controller) -> None:
    async def body() -> None:
        port = 0
        for number in range(3):
            pid, link, port = await forked.start(1, controller, port)
            client = await Client.to(port)
            assert await client.produce(b"%d" % number) == (0, number)
            forked.kill(pid)
            with pytest.raises(BrokerFailed, match="broker 1 has ended"):
                await link.applied(99)
            controller.detach(link.push)
            client.writer.transport.abort()
        assert stored(forked.logs) == [b"0", b"1", b"2"]

    run(body)


def test_a_paused_leader_is_fenced_when_it_goes_on(forked: Forked, controller: Controller) -> None:
    """The request reaches the old leader while it is paused, before the news that it was replaced."""

    async def body() -> None:
        pid, old_link, old_port = await forked.start(1, controller)
        _, new_link, new_port = await forked.start(2, controller)
        controller.detach(old_link.push)  # it will not hear of its replacement
        old, new = await Client.to(old_port), await Client.to(new_port)
        assert await old.produce(b"before") == (0, 0)
        os.kill(pid, signal.SIGSTOP)
        late = asyncio.ensure_future(old.produce(b"zombie"))
        await asyncio.sleep(0)
        await new_link.applied(controller.change(MoveLeader(topic="orders", partition=0, to=2)).epoch)
        assert await new.produce(b"after") == (0, 1)
        os.kill(pid, signal.SIGCONT)
        assert await late == (errors.NOT_LEADER_OR_FOLLOWER, -1)
        assert await new.produce(b"and on") == (0, 2)
        assert stored(forked.logs) == [b"before", b"after", b"and on"]
        assert "no longer leads orders-0" in (forked.logs / "broker-1.txt").read_text()

    run(body)


def test_an_address_that_is_taken_is_told(forked: Forked, controller: Controller) -> None:
    async def body() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(BrokerFailed, match=rf"broker 1: 127\.0\.0\.1:{port}: .*address already in use"):
                await forked.start(1, controller, port)

    run(body)


def test_a_state_that_is_none_is_told(forked: Forked, controller: Controller) -> None:
    async def body() -> None:
        _, link, _ = await forked.start(1, controller)
        link.push(replace(controller.state, epoch="two"))
        with pytest.raises(BrokerFailed, match="broker 1: no cluster state"):
            await link.applied(2)

    run(body)
