"""A kafka-go program beside embedded brokers on virtual time, called as the lab calls it: through the profile."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

from client.errors import ClientError
from client.events import Tracer, TraceValue
from client.golang.scheduler import start_scheduler
from client.net.resolver import TableResolver
from client.operations import Context, Result
from client.profiles import profile
from client.runtime import ClientRuntime
from client.settings import SettingValue
from client.tasks import BackgroundTasks
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.intercepts import Intercepts
from harness.brokers.embedded.log import MemoryLogs
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.levers import FLOWS, Intercept, InterceptResponse, PacketAction
from harness.plan import ClusterShape, Topic

PORT = 9092
V8, V9, V50 = "0.4.8", "0.4.9", "0.4.50"
RELEASES = (V8, V9, V50)
ROUND_TRIPS_S = 0.002
"""A simulated round trip takes 60 us; a run has a few."""


def address(broker: int) -> tuple[str, int]:
    return f"127.0.2.{broker}", PORT


class Lab:
    """`brokers` of them, led by the first one. `dark` addresses are those above them."""

    def __init__(self, loop: SimLoop, version: str, brokers: int, rng: Random, seed: int) -> None:
        self.loop = loop
        self.version = version
        self.events: list[tuple[float, str, dict[str, TraceValue]]] = []
        self.intercepts = Intercepts()
        self.logs = MemoryLogs()
        self._brokers = brokers
        tracer = Tracer(loop.time, lambda at_ns, kind, fields: self.events.append((at_ns / 1e9, kind, fields)))
        tasks = BackgroundTasks(start=start_scheduler(seed).start)
        self.runtime = ClientRuntime(rng, TableResolver(), tracer, tasks=tasks)

    async def start_brokers(self) -> None:
        state = ClusterState(epoch=0, cluster_id="faultlab", controller_id=1, brokers=(), topics=())
        topics = (
            Topic(name="orders", replication=min(2, self._brokers)),
            Topic(name="wide", partitions=3),
            Topic(name="both", partitions=2, leaders=(1, min(2, self._brokers))),
        )
        shape = ClusterShape(brokers=self._brokers, topics=topics)
        self.controller = Controller(shape, address)
        for number in range(1, self._brokers + 1):
            broker = EmbeddedBroker(number, state, self.logs, self.intercepts, self.controller.create_topic)
            await self.loop.new_host(f"broker-{number}").spawn(broker.start(*address(number)), name=f"broker-{number}")
            self.controller.attach(broker.apply)

    def program(
        self, bootstrap: Sequence[int] = (1,), producer: str | None = None, **settings: SettingValue
    ) -> "Program":
        """Underscores in the names of settings stand for dots."""
        return Program(self, bootstrap, producer, {name.replace("_", "."): one for name, one in settings.items()})

    def of(self, kind: str, **fields: TraceValue) -> list[tuple[float, dict[str, TraceValue]]]:
        return [
            (at_s, found)
            for at_s, one, found in self.events
            if one == kind and all(found.get(name) == value for name, value in fields.items())
        ]

    @contextmanager
    def dark(self, *brokers: int) -> Iterator[None]:
        """No packet reaches these, or comes from them."""
        with ExitStack() as stack:
            for broker in brokers:
                for flow in FLOWS:
                    rule = PacketRule(address(broker), flow, "any", PacketAction.DROP)
                    stack.enter_context(self.loop.network.rule(rule))
            yield

    @contextmanager
    def answering(self, api: str, answer: InterceptResponse, **those: Any) -> Iterator[None]:
        """What brokers do with the requests of an API, `all` for every one, instead of answering them. `those` are
        further fields of an Intercept, which say whose requests."""
        self.intercepts.add(1, Intercept(broker=1, api=api, nth=None, answer=answer, **those))
        try:
            yield
        finally:
            self.intercepts.release(1)


class Program:
    def __init__(
        self, lab: Lab, bootstrap: Sequence[int], producer: str | None, settings: dict[str, SettingValue]
    ) -> None:
        one = profile("kafka-go")
        needed = {} if producer else {"Writer.RequiredAcks": "all"}
        resolved = one.settings.resolve({**needed, **settings}, lab.version)
        self.session = one.open(lab.runtime, resolved, [address(broker) for broker in bootstrap], producer=producer)
        self._lab = lab

    async def call(self, operation: str, call_id: str, deadline_s: float | None = None, **arguments: object) -> Result:
        deadline_at = None if deadline_s is None else self._lab.loop.time() + deadline_s
        context = Context(call_id, self._lab.runtime.tracer, deadline_at)
        return await self.session.handlers[operation](arguments, context)

    async def connect(self, handle: str = "main") -> "Program":
        await self.call("connect", f"connect-{handle}", handle=handle)
        return self

    async def send(self, value: str = "x", deadline_s: float | None = None, **arguments: object) -> Result:
        return await self.call("send", f"send-{value}", deadline_s, **{"topic": "orders", "value": value, **arguments})

    async def ended(self, work: Awaitable[Result]) -> tuple[float, ClientError | None]:
        """How long it took, and the error that it ended with."""
        started_at = self._lab.loop.time()
        try:
            await work
        except ClientError as error:
            return self._lab.loop.time() - started_at, error
        return self._lab.loop.time() - started_at, None

    async def close(self) -> None:
        await self.call("close", "close")


def on_virtual_time(
    check: Callable[[Lab], Awaitable[None]],
    version: str,
    *,
    brokers: int = 1,
    seed: int = 7,
    rng: Random | None = None,
) -> Lab:
    """`rng` is the client's chance, where the seed's will not do; the order of goroutines is the seed's."""
    labs: list[Lab] = []

    async def main(loop: SimLoop) -> None:
        lab = Lab(loop, version, brokers, rng or Random(seed), seed)
        labs.append(lab)
        await lab.start_brokers()
        await asyncio.sleep(0.01)
        await check(lab)

    simulate(main, Random(seed))
    return labs[0]
