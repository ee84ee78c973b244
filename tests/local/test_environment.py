"""Protects the environment as a suite uses it: many cells at once, few of them starting, an end at once when it is
closed, and a story for every run whose cell broke."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from local_runs import in_threads, opened, plan, run, story, told
from machine import MARK, processes_marked
from machine_noise import measured_lateness

from harness.environments.local import environment
from harness.environments.local.resources import MOST_AUTO, lanes_for
from harness.environments.probe import round_trip_s
from harness.environments.world import (
    EnvironmentUnavailable,
    Executable,
    ProgressCallback,
    RunInterrupted,
    World,
    WorldError,
)
from harness.plan import ClientPlan, DriverName, RunPlan
from harness.story import Story
from harness.toxiproxy.obtain import find

pytestmark = pytest.mark.cell

SUBJECT = Executable(argv=("sh", "-c", "echo ready; read line"), launch={})


async def _wait_for_ever(plan: RunPlan, world: World, progress: ProgressCallback, _logs: Path | None) -> Story:
    process = await world.start(SUBJECT, None)
    await anext(process.lines())
    progress("waiting")
    await world.failure()
    return story(plan, world)


def test_sixteen_cells_run_side_by_side_and_at_most_two_are_starting() -> None:
    async def conduct(plan: RunPlan, world: World, progress: ProgressCallback, _logs: Path | None) -> Story:
        progress("starting")
        process = await world.start(SUBJECT, None)
        await anext(process.lines())
        progress("started")
        await round_trip_s(world.advertised_address(1), limit_s=20)
        await asyncio.sleep(1)
        return story(plan, world, plan.run_id)

    state = threading.Lock()
    starting: set[int] = set()
    most_starting = running = most_running = 0

    def one(place: int) -> Story:
        nonlocal most_starting, running, most_running

        def heard(text: str) -> None:
            nonlocal most_starting, running, most_running
            with state:
                if text == "starting":
                    starting.add(place)
                    running += 1
                else:
                    starting.discard(place)
                most_starting, most_running = max(most_starting, len(starting)), max(most_running, running)

        result = local.run(plan(run_id=str(place)), heard, None)
        with state:
            running -= 1
        return result

    with opened(conduct) as local:
        results = in_threads(16, one)
    assert [told(result) for result in results] == [str(place) for place in range(16)]
    # The message that a cell has started may overtake the progress text that says so: one more is seen at most.
    assert most_starting <= 3
    assert most_running >= 4


def test_an_interrupt_ends_every_run_at_once_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = str(tmp_path)
    # Executed programs get it: Toxiproxy and the subject of each cell. What lives on in a cell keeps these alive.
    monkeypatch.setenv(MARK, mark)
    up = threading.Semaphore(0)
    marked: list[int] = []
    interrupted: list[tuple[float, Callable[[], float]]] = []

    def interrupt_when_up() -> None:
        for _ in range(4):
            up.acquire()
        marked.extend(processes_marked(mark))
        interrupted.append((time.monotonic(), measured_lateness()))
        local.interrupt()

    with opened(_wait_for_ever) as local:
        interrupting = threading.Thread(target=interrupt_when_up)
        interrupting.start()
        results = in_threads(4, lambda place: local.run(plan(run_id=str(place)), lambda _: up.release(), None))
        interrupting.join()
        ((interrupted_s, late_s),) = interrupted
        assert time.monotonic() - interrupted_s < 2.0 + late_s()
        assert [type(result) for result in results] == [RunInterrupted] * 4
        with pytest.raises(RunInterrupted):
            local.run(plan(), lambda _: None, None)
    assert len(marked) >= 8
    assert processes_marked(mark) == []


def test_an_interrupt_while_cells_are_starting_ends_them_too() -> None:
    for delay_s in (0.0, 0.01, 0.03, 0.1, 0.3):
        with opened(_wait_for_ever) as local:
            timer = threading.Timer(delay_s, local.interrupt)
            timer.start()
            results = in_threads(6, lambda place: local.run(plan(run_id=str(place)), lambda _: None, None))
            timer.join()
        assert [type(result) for result in results] == [RunInterrupted] * 6


def test_a_run_far_past_its_limit_is_ended_with_a_story_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "GRACE_S", 0.5)
    result = run(_wait_for_ever, plan(limit_s=1.0))
    assert result.error is not None
    assert result.error.code == "cell-hung"
    assert "past its limit of 1 s" in result.error.text


def test_a_cell_that_dies_has_a_story_that_says_so(tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        os._exit(9)

    result = run(conduct, logs=tmp_path)
    assert result.error is not None
    assert result.error.code == "cell-died"
    assert str(tmp_path) in result.error.text


@pytest.mark.parametrize(
    ("number", "driver", "code", "blame"),
    [
        (signal.SIGKILL, "exec", "subject-killed-conductor", "subject"),
        (signal.SIGTERM, "real", "subject-killed-conductor", "subject"),
        (signal.SIGKILL, "bundled", "cell-died", "lab"),
        (signal.SIGSEGV, "exec", "cell-died", "lab"),
    ],
)
def test_who_is_blamed_for_a_killed_conductor(
    number: signal.Signals, driver: DriverName, code: str, blame: str
) -> None:
    """A program under test sees the processes of its cell; the bundled client and the lab send no such signal."""

    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        os.kill(os.getpid(), number)
        await asyncio.sleep(30)
        raise AssertionError("it lives")

    clients = {
        "exec": ClientPlan(name="own", version="1", argv=("subject",)),
        "real": ClientPlan(name="sarama", version="1.27.2", profile="sarama", real=True),
        "bundled": ClientPlan(name="sarama", version="1.27.2", profile="sarama"),
    }
    assert clients[driver].driver == driver
    result = run(conduct, replace(plan(), client=clients[driver]))
    assert result.error is not None
    assert (result.error.code, result.error.blame) == (code, blame)
    assert number.name in result.error.text


def test_a_bug_in_the_lab_is_told_in_a_line_with_its_traceback_in_the_log(tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        raise LookupError("a bug")

    result = run(conduct, logs=tmp_path)
    assert result.error is not None
    assert (result.error.code, result.error.text) == ("lab-bug", f"LookupError: a bug; see {tmp_path}/conductor.log")
    assert "Traceback" in (tmp_path / "conductor.log").read_text()


def test_an_error_of_the_world_keeps_its_code() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        raise WorldError("packets-refused", "no rule was taken")

    error = run(conduct).error
    assert error is not None
    assert (error.code, error.text) == ("packets-refused", "no rule was taken")


def test_logs_are_in_the_run_s_folder_and_an_empty_one_of_the_conductor_is_not(tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        await round_trip_s(world.advertised_address(1), limit_s=20)
        return story(plan, world)

    run(conduct, logs=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broker-1.log", "toxiproxy.log"]
    assert "Accepted client" in (tmp_path / "toxiproxy.log").read_text()


def test_toxiproxy_absent_is_an_environment_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TOXIPROXY_SERVER", raising=False)
    with pytest.raises(EnvironmentUnavailable) as caught, opened(_wait_for_ever):
        raise AssertionError
    assert "no toxiproxy-server 2.12.0" in caught.value.reason
    assert "python" in caught.value.remedy


def test_the_environment_is_entered_from_the_main_thread_only() -> None:
    (result,) = in_threads(1, lambda _: environment.LocalEnvironment(_wait_for_ever, lanes=1).__enter__())
    assert isinstance(result, RuntimeError)
    assert "main thread" in str(result)


@pytest.mark.parametrize(("free_mib", "lanes"), [(16, 1), (960, 10), (65_536, 16)])
def test_little_memory_means_fewer_cells(free_mib: int, lanes: int) -> None:
    assert lanes_for(free_mib << 20) == lanes


def test_left_to_the_machine_it_is_what_memory_holds() -> None:
    assert lanes_for(960 << 20, most=MOST_AUTO) == 10
    assert lanes_for(65_536 << 20, most=MOST_AUTO) == MOST_AUTO == 64


_AS_NOBODY = """
import os, sys
sys.path.insert(0, {here!r})
from local_runs import opened, plan, story, told
from harness.environments.local.preload import preload
from harness.environments.probe import round_trip_s
from harness.environments.world import Executable
from harness.levers import CloseListener, FilterPackets, PacketAction

async def conduct(plan, world, progress, logs):
    dropping = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
    async with world.pull(dropping), world.pull(CloseListener(broker=2)):
        pass
    process = await world.start(Executable(argv=("sh", "-c", "echo up"), launch={{}}), None)
    said = await anext(process.lines())
    await process.end(grace_s=5)
    await round_trip_s(world.advertised_address(1), limit_s=20)
    return story(plan, world, said.lines[0].decode())

preload()
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
with opened(conduct) as local:
    print(told(local.run(plan(brokers=3), lambda _: None, None)), os.getuid())
"""


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become somebody else; this user is an ordinary one already"
)
def test_nobody_can_run_a_plan() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Somewhere that nobody may look into, unlike root's cache.
        Path(folder).chmod(0o755)
        program = shutil.copy(find(), folder)
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY.format(here=str(Path(__file__).parent))],
            env={**os.environ, "TOXIPROXY_SERVER": program},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "up 65534\n"), done.stderr
