"""Embedded brokers on real sockets of 127.0.0.1, in a thread of their own, and a plain socket to speak to one."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import pytest

from client.wire.api import Api, api_for_body
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.log import MemoryLogs, PartitionLogs
from harness.brokers.security import PLAINTEXT, BrokerSecurity
from harness.plan import ClusterShape, Topic

T = TypeVar("T")

SHAPE = ClusterShape(
    brokers=3, topics=(Topic(name="orders", partitions=6, replication=3, leaders=(1, 2, 3, 1, 2, 3)), Topic(name="one"))
)
NOTHING_YET = ClusterState(epoch=0, cluster_id="faultlab", controller_id=1, brokers=(), topics=())


class Cluster:
    """Three brokers whose ports the kernel chose."""

    def __init__(
        self, shape: ClusterShape = SHAPE, logs: PartitionLogs | None = None, security: BrokerSecurity = PLAINTEXT
    ) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        logs = logs or MemoryLogs()
        self.brokers = {b: EmbeddedBroker(b, NOTHING_YET, logs, security=security) for b in shape.broker_ids}
        self.addresses = {b: self.call(broker.start("127.0.0.1", 0)) for b, broker in self.brokers.items()}
        self.controller = Controller(shape, self.addresses.__getitem__)
        for broker in self.brokers.values():
            self.soon(lambda broker=broker: self.controller.attach(broker.apply))

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{host}:{port}" for host, port in self.addresses.values())

    def call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=10)

    def soon(self, action: Callable[[], T]) -> T:
        """Run in the brokers' thread."""

        async def run() -> T:
            return action()

        return self.call(run())

    def dial(self, broker: int) -> "Raw":
        return Raw(socket.create_connection(self.addresses[broker], timeout=5))

    def close(self) -> None:
        for broker in self.brokers.values():
            self.call(broker.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Raw:
    """A blocking connection that sends requests, or whatever bytes a test wants."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._frames = FrameReader()
        self._whole: list[bytes] = []
        self._sent = 0

    def send(self, body: object, version: int) -> None:
        self._sent += 1
        self.sock.sendall(encode_request(body, version=version, correlation_id=self._sent, client_id="raw"))

    def receive(self, api: Api[Any, Any], version: int) -> tuple[int, Any]:
        """Correlation id and body of the next response."""
        payload = self.frame()
        assert payload is not None, "the broker closed the connection"
        return decode_response(api, version, payload)

    def ask(self, body: object, version: int) -> Any:
        self.send(body, version)
        correlation_id, answer = self.receive(api_for_body(type(body)), version)
        assert correlation_id == self._sent
        return answer

    def frame(self) -> bytes | None:
        """The next whole frame; None where the broker closes the connection instead."""
        while not self._whole:
            try:
                data = self.sock.recv(65536)
            except ConnectionResetError:
                return None
            if not data:
                self._frames.eof()
                return None
            self._whole = self._frames.feed(data)
        return self._whole.pop(0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    one = Cluster()
    yield one
    one.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Cluster]]:
    """Starts clusters that end with the test; arguments are those of Cluster."""
    with ExitStack() as stack:

        def started(**more: Any) -> Cluster:
            one = Cluster(**more)
            stack.callback(one.close)
            return one

        yield started


@pytest.fixture
def raw(cluster: Cluster) -> Iterator[Raw]:
    """A connection to broker 1."""
    connection = cluster.dial(1)
    yield connection
    connection.sock.close()


@pytest.fixture
def clusters() -> Iterator[Callable[..., Cluster]]:
    """Makes clusters of another shape or with other logs, and closes them."""
    made: list[Cluster] = []

    def make(*args: Any, **named: Any) -> Cluster:
        made.append(Cluster(*args, **named))
        return made[-1]

    yield make
    for one in made:
        one.close()
