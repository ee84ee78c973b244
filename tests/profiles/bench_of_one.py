"""One profile's session beside an embedded broker on virtual time, and everything that it traces."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from random import Random

from client.errors import ClientError
from client.events import Tracer, TraceValue
from client.net.resolver import TableResolver
from client.operations import Context, Result
from client.profiles import Profile
from client.profiles.contract import ProfileSession
from client.runtime import ClientRuntime
from client.settings import SettingValue
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.log import MemoryLogs
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.levers import FLOWS, PacketAction
from harness.plan import ClusterShape, Topic

ADDRESS = ("127.0.2.1", 9092)
Event = tuple[int, str, dict[str, TraceValue]]
ACKNOWLEDGED: Mapping[str, Mapping[str, SettingValue]] = {"kafka-go": {"Writer.RequiredAcks": "all"}}
"""By profile, what its sends need so that a broker acknowledges them: a kafka-go Writer asks for nothing of itself."""


class Bench:
    """`events` are the session's trace."""

    def __init__(self, loop: SimLoop, one: Profile, release: str, seed: int, producer: str | None = None) -> None:
        self.loop = loop
        self.profile = one
        self.events: list[Event] = []
        self.runtime = ClientRuntime(
            Random(seed), TableResolver(), Tracer(loop.time, lambda *event: self.events.append(event))
        )
        settings = one.settings.resolve(ACKNOWLEDGED.get(one.name, {}), release)
        self.session: ProfileSession = one.open(self.runtime, settings, [ADDRESS], producer=producer)

    async def start_broker(self) -> None:
        state = ClusterState(epoch=0, cluster_id="faultlab", controller_id=1, brokers=(), topics=())
        controller = Controller(ClusterShape(brokers=1, topics=(Topic(name="orders"),)), lambda _: ADDRESS)
        broker = EmbeddedBroker(1, state, MemoryLogs(), create_topic=controller.create_topic)
        await self.loop.new_host("broker").spawn(broker.start(*ADDRESS), name="broker")
        controller.attach(broker.apply)

    async def call(self, operation: str, /, **arguments: object) -> Result:
        return await self.session.handlers[operation](arguments, Context(operation, self.runtime.tracer))

    async def error_of(self, operation: str, /, **arguments: object) -> ClientError | None:
        try:
            await self.call(operation, **arguments)
        except ClientError as error:
            return error
        return None


@contextmanager
def unreachable_broker(loop: SimLoop) -> Iterator[None]:
    """No packet reaches the broker or comes from it."""
    with ExitStack() as stack:
        for flow in FLOWS:
            stack.enter_context(loop.network.rule(PacketRule(ADDRESS, flow, "any", PacketAction.DROP)))
        yield


def on_bench(
    check: Callable[[Bench], Awaitable[None]], one: Profile, release: str, *, seed: int = 7, producer: str | None = None
) -> Bench:
    """Run the check on virtual time."""
    benches: list[Bench] = []

    async def main(loop: SimLoop) -> None:
        bench = Bench(loop, one, release, seed, producer)
        benches.append(bench)
        await bench.start_broker()
        await asyncio.sleep(0.01)
        await check(bench)

    simulate(main, Random(seed))
    return benches[0]
