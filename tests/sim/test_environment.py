"""Protects the simulated environment as the suite uses it: real evidence, refusals, one world a run, no trace of it."""

import asyncio
import gc
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from simplans import plan

from harness.environments.sim.environment import SimEnvironment
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.world import SimWorld
from harness.environments.world import (
    BundledClient,
    Executable,
    OutputBatch,
    Process,
    RunInterrupted,
    Supported,
    Unsupported,
    WorldError,
)
from harness.levers import (
    CloseListener,
    DialsRefused,
    ErrorAnswer,
    FilterPackets,
    Intercept,
    PacketAction,
    Signal,
    Silence,
    Toxic,
)
from harness.levers.toxic import TOXIC_KINDS
from harness.plan import RunPlan
from harness.story import Noise, Story

Body = Callable[[SimWorld], Awaitable[Any]]


def toxic(flow: Any, kind: str, attributes: tuple[tuple[str, int], ...]) -> Toxic:
    return Toxic(broker=1, flow=flow, kind=kind, attributes=attributes)


def ignored(text: str) -> None:
    """Progress that nobody looks at."""


def told(world: SimWorld, plan: RunPlan) -> Story:
    return Story(
        run_id=plan.run_id,
        attempt=1,
        origin_ns=0,
        ready_s=None,
        ended_ns=world.now_ns(),
        operations=(),
        faults=(),
        events=(),
        noise=Noise(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=0),
        kernel=world.kernel,
    )


def run(body: Body, *, brokers: int = 1, logs: Path | None = None) -> Story:
    async def conduct(plan: RunPlan, world: Any, progress: Any, logs: Path | None) -> Story:
        await body(world)
        return told(world, plan)

    return SimEnvironment(conduct).run(plan(brokers=brokers), ignored, logs)


async def dial(world: SimWorld, broker: int = 1) -> None:
    _, writer = await asyncio.open_connection(*world.advertised_address(broker))
    writer.close()


async def lines_of(process: Process) -> AsyncIterator[OutputBatch]:
    """What a subject says, one by one, until its end."""
    said: asyncio.Queue[OutputBatch | None] = asyncio.Queue()
    hearing = asyncio.create_task(process.subscribe(said.put_nowait))
    hearing.add_done_callback(lambda _: said.put_nowait(None))
    while (one := await said.get()) is not None:
        yield one
    await hearing


def test_every_broker_is_dialled_at_its_proxy() -> None:
    async def body(world: SimWorld) -> None:
        for broker in (1, 2, 3):
            assert world.advertised_address(broker) == (f"127.0.2.{broker}", 9092)
            await dial(world, broker)

    story = run(body, brokers=3)
    assert story.error is None
    assert story.kernel.release.startswith("simulated")


def test_packets_are_dropped_counted_and_let_through_again() -> None:
    async def body(world: SimWorld) -> None:
        lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
        async with world.pull(lever) as pulled:
            assert (await pulled.evidence()).packets == 0
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(2.5):
                    await dial(world)
            assert (await pulled.evidence()).packets == 3
            assert pulled.began_ns <= pulled.confirmed_ns <= world.now_ns()
            await dial(world, 2)
        await dial(world)

    run(body, brokers=2)


def test_refused_packets_and_a_closed_port_are_refusals() -> None:
    async def body(world: SimWorld) -> None:
        for lever in (FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.REFUSE), CloseListener(broker=1)):
            async with world.pull(lever) as pulled:
                for _ in range(2):
                    with pytest.raises(ConnectionRefusedError):
                        await dial(world)
                evidence = await pulled.evidence()
                assert evidence == DialsRefused(dials=2)
            await dial(world)

    run(body)


def test_what_it_cannot_do_is_refused_with_a_reason() -> None:
    sim = SimEnvironment(lambda *_: None)  # type: ignore[arg-type, return-value]
    assert sim.supports(FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DROP)) == Supported()
    assert sim.supports(CloseListener(broker=1)) == Supported()
    assert sim.supports(Signal(broker=1, kind="kill")) == Supported()
    assert sim.supports(Intercept(broker=1, answer=Silence(), api="produce")) == Supported()
    assert sim.supports(toxic("to_client", "latency", (("latency", 5), ("jitter", 1)))) == Supported()
    for lever, reason in [
        (toxic("to_client", "sloth", ()), f"make the toxic sloth: what can be proven is {', '.join(TOXIC_KINDS)}"),
        (
            toxic("to_client", "latency", (("delay", 5),)),
            "make the toxic latency with delay: it has jitter, latency",
        ),
        (
            Intercept(broker=1, answer=ErrorAnswer(error="OOPS")),
            "answer with OOPS: Kafka has no error `OOPS`",
        ),
    ]:
        refused = sim.supports(lever)
        assert isinstance(refused, Unsupported)
        assert refused.reason.startswith(reason)
    assert sim.supports_driver("bundled") == Supported()
    assert isinstance(sim.supports_driver("exec"), Unsupported)

    async def body(world: SimWorld) -> None:
        with pytest.raises(WorldError, match=r"sim cannot start \./mine"):
            await world.start(Executable(argv=("./mine",), launch={}), None)

    run(body)


LAUNCH = {
    "protocol": 1,
    "client": "sarama",
    "version": "1.27.2",
    "bootstrap": ["127.0.2.1:9092"],
    "topic": "orders",
    "settings": {},
    "seed": 1,
}


def test_the_subject_is_spoken_to_in_lines() -> None:
    async def body(world: SimWorld) -> None:
        process = await world.start(BundledClient(launch=LAUNCH), None)
        said = lines_of(process)
        first = await anext(said)
        assert first == OutputBatch([{"ev": "ready", "clock_ns": world.now_ns()}], world.now_ns())
        await process.write(b'{"op":"connect","id":"c"}')
        async for lines, received_ns in said:
            assert received_ns == world.now_ns()
            if any(line["ev"] == "ok" for line in lines if isinstance(line, dict)):
                break
        await process.write(b'{"op":"close","id":"e"}')
        rest = [line async for lines, _ in said for line in lines]
        assert {"ev": "ok", "id": "e", "at_ns": world.now_ns()} in rest
        assert await process.end(grace_s=1) == 0
        with pytest.raises(BrokenPipeError):
            await process.write(b"{}")

    run(body)


def test_what_a_hearer_raises_ends_the_hearing() -> None:
    def on_output(_said: OutputBatch) -> None:
        raise ZeroDivisionError("a bug of the hearer's")

    async def body(world: SimWorld) -> None:
        process = await world.start(BundledClient(launch=LAUNCH), None)
        with pytest.raises(ZeroDivisionError, match="a bug of the hearer's"):
            await process.subscribe(on_output)
        await process.write(b'{"op":"close","id":"e"}')
        assert await process.end(grace_s=1) == 0

    story = run(body)
    assert story.error is None


def running_loop() -> SimLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    return loop


def test_a_subject_that_does_not_end_is_killed() -> None:
    async def body(world: SimWorld) -> None:
        process = await world.start(BundledClient(launch=LAUNCH), None)
        said = lines_of(process)
        await anext(said)
        running_loop().hosts[-1].pause()
        began_ns = world.now_ns()
        assert await process.end(grace_s=5) is None
        assert world.now_ns() - began_ns == 5_000_000_000
        assert [lines async for lines in said] == []

    run(body)


def test_what_a_subject_logs_is_in_its_log(tmp_path: Path) -> None:
    log = tmp_path / "subject.log"

    async def body(world: SimWorld) -> None:
        process = await world.start(BundledClient(launch={**LAUNCH, "version": "0.0.1"}), log)
        assert [lines async for lines in lines_of(process)] == []
        assert await process.end(grace_s=1) not in (0, None)

    run(body)
    assert "0.0.1" in log.read_text()


def test_an_error_in_the_world_is_its_failure_and_the_storys() -> None:
    async def body(world: SimWorld) -> None:
        async def explode() -> None:
            raise ZeroDivisionError("a bug of ours")

        host = running_loop().new_host("broker-9")
        host.spawn(explode(), name="explode")
        await asyncio.sleep(1)

    story = run(body)
    assert story.error is not None
    assert story.error.code == "world-failed"
    assert "broker-9" in story.error.text
    assert "a bug of ours" in story.error.text

    async def told_at_once(world: SimWorld) -> None:
        loop = running_loop()
        loop.call_soon(lambda: 1 / 0, context=loop.new_host("broker-8").context)
        assert "broker-8" in await world.failure()

    run(told_at_once)


def test_a_run_that_hangs_tells_what_hangs() -> None:
    async def body(world: SimWorld) -> None:
        await asyncio.Queue[OutputBatch]().get()

    story = run(body)
    assert story.error is not None
    assert story.error.code == "deadlock"
    assert "conductor: main" in story.error.text


def test_runs_go_on_in_several_threads_and_an_interrupt_ends_them() -> None:
    ticking = threading.Barrier(3)

    async def conduct(plan: RunPlan, world: Any, progress: Any, logs: Path | None) -> Story:
        ticking.wait(10)
        while True:
            await asyncio.sleep(1)

    sim = SimEnvironment(conduct)
    ended: list[type] = []

    def one() -> None:
        try:
            sim.run(plan(), ignored, None)
        except RunInterrupted as interrupted:
            ended.append(type(interrupted))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    ticking.wait(10)
    sim.interrupt()
    for thread in threads:
        thread.join(10)
    assert ended == [RunInterrupted, RunInterrupted]
    with pytest.raises(RunInterrupted):
        sim.run(plan(), ignored, None)


def test_a_run_leaves_no_loop_no_task_and_no_warning() -> None:
    async def body(world: SimWorld) -> None:
        process = await world.start(BundledClient(launch=LAUNCH), None)
        await anext(lines_of(process))
        await process.write(b'{"op":"connect","id":"c"}')
        await asyncio.sleep(1)

    before = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(body)
        gc.collect()
    assert threading.active_count() == before
    assert [o for o in gc.get_objects() if isinstance(o, asyncio.Task) and not o.done()] == []
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()
