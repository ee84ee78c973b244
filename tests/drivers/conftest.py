"""A world of real processes and nothing else: enough for a driver, without brokers, links or faults."""

import asyncio
import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from harness.drivers import Subject
from harness.environments.world import ActiveLever, Executable, LagMonitor, OutputBatch, Process, Program
from harness.levers import Lever
from harness.plan import ClientPlan, ClusterShape, ResolvedValue, RunPlan, Topic
from harness.story import Kernel, Value

PREAMBLE = """
import json, os, sys, time
launch = json.loads(os.environ["FAULTLAB_SUBJECT"])
def say(**event): print(json.dumps(event), flush=True)
def ready(**more): say(ev="ready", clock_ns=time.monotonic_ns(), **more)
def now(): return time.monotonic_ns()
def command():
    line = sys.stdin.readline()
    if not line: raise SystemExit(0)
    return json.loads(line)
"""


class Child:
    """harness.environments.world.Process over an asyncio subprocess."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def subscribe(self, on_output: Callable[[OutputBatch], None]) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():  # raises ValueError for a line above the limit
            on_output(OutputBatch((line.rstrip(b"\n"),), time.monotonic_ns()))

    async def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def end(self, *, grace_s: float) -> int | None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(grace_s):
                return await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
            return None


class ProcessWorld:
    """The part of a world that drivers use."""

    cluster = ClusterShape(brokers=2, topics=(Topic(name="orders"),))
    rng = Random(1)
    kernel = Kernel(release="any", hz=0)

    def __init__(self) -> None:
        self.started: list[Child] = []

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def advertised_address(self, broker: int) -> tuple[str, int]:
        return (f"127.0.2.{broker}", 9092)

    async def start(self, program: Program, log: Path | None) -> Process:
        assert isinstance(program, Executable)
        with (log or Path(os.devnull)).open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *program.argv, limit=1 << 20, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=errors, env={**os.environ, "FAULTLAB_SUBJECT": json.dumps(program.launch)},
            )  # fmt: skip
        process.stdin.transport.set_write_buffer_limits(high=0)  # type: ignore[union-attr]
        self.started.append(Child(process))
        return self.started[-1]

    def pull(self, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]:
        raise AssertionError("a driver pulls no lever")

    def monitor_lag(self) -> LagMonitor:
        raise AssertionError("a driver watches no noise")

    def failure(self) -> asyncio.Future[str]:
        return asyncio.get_running_loop().create_future()


@dataclass
class Talk:
    """What a test needs to speak to one subject."""

    plan: RunPlan
    world: ProcessWorld
    told: list[tuple[int, str, Mapping[str, Value]]]
    log: Path

    def subject(self) -> AbstractAsyncContextManager[Subject]:
        return Subject.started(self.plan, self.world, lambda *event: self.told.append(event), self.log)


PLAN = RunPlan(
    run_id="0123456789ab", scenario="drivers", path=Path("drivers.scenario.yaml"), about="", tags=(),
    environment="local", client=ClientPlan(name="mine", version="1", argv=(), bootstrap=(1, 2)),
    settings=(
        ResolvedValue(name="Net.DialTimeout", text="1500ms", unit="s", value=1.5),
        ResolvedValue(name="Producer.Retry.Max", text="3", unit="count", value=3.0),
        ResolvedValue(name="Producer.RequiredAcks", text="WaitForAll", unit="text"),
        ResolvedValue(name="Net.KeepAlive", text="true", unit="bool"),
    ),
    given_settings=(), parameters=(), cluster=ProcessWorld.cluster, steps=(), expectations=(), seed=7, repeat=1,
)  # fmt: skip


@pytest.fixture
def talk(tmp_path: Path) -> Callable[[str], Talk]:
    """Makes a subject of a script; `say`, `ready`, `command` and `now` are at its hand."""

    def make(script: str) -> Talk:
        argv = (sys.executable, "-S", "-c", PREAMBLE + textwrap.dedent(script))
        plan = replace(PLAN, client=replace(PLAN.client, argv=argv))
        return Talk(plan, ProcessWorld(), [], tmp_path / "subject.log")

    return make
