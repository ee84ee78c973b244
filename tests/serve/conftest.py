"""A subject on a lead: `serve` as tasks beside a real embedded broker, on real sockets or on virtual time."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from client.serve import Event, event_to_dict, serve
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.log import MemoryLogs
from harness.plan import ClusterShape, Topic

HOST = "127.0.0.1"


class Subject:
    """Says lines to a subject and keeps what it says."""

    def __init__(self, launch: dict[str, Any]) -> None:
        self.said: list[dict[str, Any]] = []
        self.log: list[str] = []
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._news = asyncio.Event()
        self.exit = asyncio.create_task(serve(launch, self, self._write, self.log.append))

    def __aiter__(self) -> "Subject":
        return self

    async def __anext__(self) -> bytes:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _write(self, events: list[Event]) -> None:
        assert events
        self.said += [json.loads(json.dumps(event_to_dict(event))) for event in events]
        self._news.set()

    def say(self, command: dict[str, Any] | bytes | None) -> None:
        self._lines.put_nowait(
            command if command is None or isinstance(command, bytes) else json.dumps(command).encode()
        )

    async def answer(self, name: str | None) -> dict[str, Any]:
        """The ok or error of this id."""
        while True:
            for event in self.said:
                if event["ev"] in ("ok", "error") and event["id"] == name:
                    return event
            self._news.clear()
            await self._news.wait()

    async def ask(self, **command: Any) -> dict[str, Any]:
        self.say(command)
        return await self.answer(command["id"])


class Broker:
    """One embedded broker with the topic `orders` of three partitions."""

    def __init__(self) -> None:
        self.logs = MemoryLogs()
        self._broker: EmbeddedBroker | None = None

    async def start(self) -> tuple[str, int]:
        server = await asyncio.start_server(lambda *_: None, HOST, 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        shape = ClusterShape(brokers=1, topics=(Topic(name="orders", partitions=3, leaders=(1, 1, 1)),))
        controller = Controller(shape, lambda _: (HOST, port))
        self._broker = EmbeddedBroker(1, controller.state, self.logs)
        await self._broker.start(HOST, port)
        controller.attach(self._broker.apply)
        return HOST, port

    async def stop(self) -> None:
        if self._broker is not None:
            await self._broker.stop()


def launch_record(*addresses: tuple[str, int], **settings: Any) -> dict[str, Any]:
    return {
        "protocol": 1,
        "client": "sarama",
        "version": "1.27.2",
        "bootstrap": [f"{host}:{port}" for host, port in addresses],
        "topic": "orders",
        "settings": {name.replace("_", "."): value for name, value in settings.items()},
        "seed": 7,
    }


@pytest.fixture
def with_broker() -> Callable[[Callable[[Broker, tuple[str, int]], Coroutine[Any, Any, None]]], None]:
    """`with_broker(check)` runs `check(broker, address)` on a loop with real sockets."""

    def run(check: Callable[[Broker, tuple[str, int]], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            broker = Broker()
            address = await broker.start()
            try:
                async with asyncio.timeout(30):
                    await check(broker, address)
            finally:
                await broker.stop()

        asyncio.run(main())

    return run


@pytest.fixture
def subject() -> Callable[..., Subject]:
    """`subject(address, Net_ReadTimeout=1.0)`: a started one; `subject(launch={...})` for any record."""

    def start(*addresses: tuple[str, int], launch: dict[str, Any] | None = None, **settings: Any) -> Subject:
        return Subject(launch if launch is not None else launch_record(*addresses, **settings))

    return start


@pytest.fixture
def launch() -> Callable[..., dict[str, Any]]:
    return launch_record
