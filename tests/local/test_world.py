"""Protects what a run gets in a cell: brokers that answer through their proxies, levers that do what they say and are
undone when their context is left, a subject over pipes, and news of whatever dies by itself."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest
from local_runs import plan, run, story, told

from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.messages import encode_request
from harness.environments.local.environment import LocalEnvironment
from harness.environments.probe import ProbeFailed, round_trip_s
from harness.environments.world import (
    ActiveLever,
    Executable,
    OutputBatch,
    ProgressCallback,
    Supported,
    Unsupported,
    World,
    WorldError,
)
from harness.levers import (
    CloseListener,
    ErrorAnswer,
    FilterPackets,
    Flow,
    Intercept,
    Lever,
    PacketAction,
    Signal,
    Silence,
    Toxic,
)
from harness.plan import RunPlan
from harness.story import Story

pytestmark = pytest.mark.cell

BLACKHOLE = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
PAUSED, KILLED = Signal(broker=1, kind="pause"), Signal(broker=1, kind="kill")
SILENT = Intercept(broker=1, answer=Silence())
RESET = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.RESET, only="data", at_most=1)
SLOW = Toxic(broker=1, flow="to_client", kind="latency", attributes=(("latency", 200),))


def test_every_broker_answers_through_its_proxy() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        seen = [await round_trip_s(world.advertised_address(broker), limit_s=10) for broker in world.cluster.broker_ids]
        return story(plan, world, json.dumps(seen))

    assert len(json.loads(told(run(conduct, plan(brokers=3))))) == 3


def test_the_world_has_the_lab_s_clock_its_kernel_and_the_plan_s_chance() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        apart_s = abs(world.now_ns() / 1e9 - asyncio.get_running_loop().time())
        return story(plan, world, json.dumps([apart_s, world.rng.random(), world.kernel.hz, len(world.kernel.sysctls)]))

    first, second = json.loads(told(run(conduct))), json.loads(told(run(conduct)))
    assert first[0] < 1
    assert first[1:] == second[1:]
    assert first[2] >= 100
    assert first[3] > 20


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
def test_a_blackhole_hides_the_broker_until_it_is_healed(flow: Flow) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        async with world.pull(FilterPackets(broker=1, flow=flow, verdict=PacketAction.DROP)) as pulled:
            assert pulled.began_ns <= pulled.confirmed_ns <= world.now_ns()
            assert (await pulled.evidence()).packets == 0
            with pytest.raises(ProbeFailed, match="had no answer"):
                await round_trip_s(world.advertised_address(1), limit_s=0.2)
            evidence = await pulled.evidence()
        assert (await pulled.evidence()).packets >= evidence.packets
        await round_trip_s(world.advertised_address(1), limit_s=10)
        return story(plan, world, str(evidence.packets))

    assert int(told(run(conduct))) >= 1


@pytest.mark.parametrize(
    "lever", [FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.REFUSE), CloseListener(broker=1)]
)
def test_a_refused_dial_is_counted_and_only_that(lever: Lever) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        reader, _ = await asyncio.open_connection(*world.advertised_address(1))
        async with world.pull(lever) as pulled:
            if isinstance(lever, CloseListener):
                assert await reader.read() == b""
            assert (await pulled.evidence()).dials == 0
            for _ in range(3):
                with pytest.raises(ConnectionRefusedError):
                    await asyncio.open_connection(*world.advertised_address(1))
            evidence = await pulled.evidence()
        await round_trip_s(world.advertised_address(1), limit_s=10)
        return story(plan, world, str(evidence.dials))

    assert told(run(conduct)) == "3"


def test_a_toxic_is_seen_by_what_it_does_to_a_client_and_gone_afterwards() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        async with world.pull(SLOW) as pulled:
            slow_s = await round_trip_s(world.advertised_address(1), limit_s=10)
            of_probes = await pulled.evidence()
            reader, writer = await asyncio.open_connection(*world.advertised_address(1))
            writer.write(encode_request(ApiVersionsRequest(), version=0, correlation_id=1, client_id="client"))
            assert await reader.read(1)
            writer.close()
            evidence = await pulled.evidence()
        fast = await _any_round_trip_is_fast(world)
        return story(plan, world, json.dumps([of_probes.delay_s, evidence.delay_s, slow_s, fast]))

    probed_s, delay_s, slow_s, fast = json.loads(told(run(conduct)))
    assert probed_s == 0
    assert delay_s >= 0.18
    assert slow_s >= 0.2
    assert fast


async def _any_round_trip_is_fast(world: World) -> bool:
    """Whether one is shorter than what SLOW adds to each of them, however late the machine makes the others."""
    for _ in range(20):
        if await round_trip_s(world.advertised_address(1), limit_s=10) < 0.2:
            return True
    return False


def test_levers_heal_in_reverse_order_though_the_body_fails() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        with pytest.raises(ZeroDivisionError):
            async with world.pull(BLACKHOLE), world.pull(SLOW), world.pull(CloseListener(broker=1)):
                raise ZeroDivisionError
        return story(plan, world, str(await _any_round_trip_is_fast(world)))

    assert told(run(conduct)) == "True"


def test_pulling_is_quick() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        took_s = []
        for _ in range(20):
            async with world.pull(BLACKHOLE) as pulled:
                took_s.append((pulled.confirmed_ns - pulled.began_ns) / 1e9)
        return story(plan, world, str(sorted(took_s)[10]))

    assert float(told(run(conduct))) < 0.1


def test_what_local_can_pull_is_known_without_opening_it() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        raise AssertionError

    local = LocalEnvironment(conduct)
    assert local.supports(BLACKHOLE) == Supported()
    assert local.supports(SLOW) == Supported()
    for lever in (CloseListener(broker=2), PAUSED, KILLED, SILENT, RESET):
        assert local.supports(lever) == Supported()
    for unknown, says in [
        (
            Intercept(broker=1, answer=Silence(), api="gossip"),
            "intercept gossip requests: brokers have no API `gossip`",
        ),
        (Intercept(broker=1, answer=ErrorAnswer(error="OOPS")), "answer with OOPS: Kafka has no error"),
        (Intercept(broker=1, answer=ErrorAnswer(error="NONE")), "answer with NONE"),
    ]:
        assert isinstance(refused := local.supports(unknown), Unsupported)
        assert refused.reason.startswith(says)
    sloth = Toxic(broker=1, flow="to_client", kind="sloth")
    assert isinstance(refused := local.supports(sloth), Unsupported)
    assert "sloth" in refused.reason
    jumpy = Toxic(broker=1, flow="to_client", kind="latency", attributes=(("jumps", 1),))
    assert isinstance(local.supports(jumpy), Unsupported)


def _parts() -> dict[str, int]:
    """The processes of this cell by what they are: what was executed by its name, brokers by their order."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            name = (folder / "comm").read_text().strip()
            if name.startswith("toxiproxy"):
                found["Toxiproxy"] = int(folder.name)
            elif int(folder.name) > os.getpid():
                found.setdefault("broker 1", int(folder.name))
    return found


@pytest.mark.parametrize("part", ["Toxiproxy", "broker 1"])
def test_what_dies_by_itself_is_named_with_its_log(part: str, tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        assert not world.failure().done()
        os.kill(_parts()[part], signal.SIGKILL)
        return story(plan, world, await world.failure())

    said = told(run(conduct, logs=tmp_path))
    assert said.startswith(f"{part} was killed by SIGKILL; its log is {tmp_path}/")


def test_a_lever_on_a_dead_toxiproxy_is_an_error_of_the_world(tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        os.kill(_parts()["Toxiproxy"], signal.SIGKILL)
        await world.failure()
        with pytest.raises(WorldError) as caught:
            async with world.pull(CloseListener(broker=1)):
                raise AssertionError
        return story(plan, world, f"{caught.value.code}: {caught.value.text}")

    said = told(run(conduct, logs=tmp_path))
    assert said.startswith("toxiproxy-failed: Toxiproxy at 127.0.3.1:8474 broke off GET /proxies")
    assert f"its log is {tmp_path}/toxiproxy.log, last line: " in said


def test_a_run_imports_and_builds_nothing_that_the_zygote_could_have_had() -> None:
    """Each import in a cell is paid again in every run, and disturbs those that measure."""

    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        before = set(sys.modules)
        for lever in (BLACKHOLE, SLOW, CloseListener(broker=1), PAUSED, KILLED, SILENT, RESET):
            async with world.pull(lever) as pulled:
                await _asked(pulled)
        await world.settle(5.0)
        await world.read_log("orders", 0)
        process = await world.start(Executable(argv=("true",), launch={}), None)
        await process.end(grace_s=5)
        return story(plan, world, " ".join(sorted(set(sys.modules) - before)))

    assert told(run(conduct)) == ""


async def _asked(pulled: ActiveLever) -> None:
    await pulled.evidence()


_ECHO = "import sys; print('up', flush=True)\nfor line in sys.stdin: print('got', line.strip(), flush=True)"


async def _next(lines: "object") -> bytes:
    said = await anext(lines)  # type: ignore[call-overload]
    assert isinstance(said, OutputBatch)
    (line,) = said.lines
    assert isinstance(line, bytes)
    return line


def test_a_program_is_spoken_to_line_by_line_and_exits_when_its_input_ends(tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        began_ns = world.now_ns()
        program = Executable(
            argv=(sys.executable, "-c", f"import os; print(os.environ['FAULTLAB_SUBJECT']); {_ECHO}"),
            launch={"bootstrap": ["127.0.2.1:9092"]},
        )
        process = await world.start(program, tmp_path / "subject.log")
        lines = process.lines()
        launched = json.loads(await _next(lines))
        assert launched == {"bootstrap": ["127.0.2.1:9092"]}
        up = await anext(lines)
        assert (up.lines, began_ns < up.received_ns <= world.now_ns()) == ((b"up",), True)
        await process.write(b"hello")
        assert await _next(lines) == b"got hello"
        code = await process.end(grace_s=10)
        assert [line async for line in lines] == []
        with pytest.raises(BrokenPipeError):
            await process.write(b"anybody?")
        return story(plan, world, str(code))

    assert told(run(conduct)) == "0"


def test_a_program_s_exit_code_and_standard_error_are_kept(tmp_path: Path) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        process = await world.start(Executable(argv=("sh", "-c", "echo woe >&2; exit 3"), launch={}), tmp_path / "log")
        assert [line async for line in process.lines()] == []
        return story(plan, world, str(await process.end(grace_s=10)))

    assert told(run(conduct)) == "3"
    assert (tmp_path / "log").read_text() == "woe\n"


def test_a_program_that_will_not_go_is_killed_with_its_whole_group() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        stubborn = "trap '' TERM HUP; sleep 1000 & echo $!; exec sleep 1000"
        process = await world.start(Executable(argv=("sh", "-c", stubborn), launch={}), None)
        lines = process.lines()
        helper = int(await _next(lines))
        assert await process.end(grace_s=0.1) is None
        loop = asyncio.get_running_loop()
        until = loop.time() + 10
        while Path(f"/proc/{helper}").exists():
            assert loop.time() < until
            await asyncio.sleep(0.01)
        return story(plan, world)

    told(run(conduct))


@pytest.mark.parametrize(
    ("argv", "error"), [(("/no/such/program",), "FileNotFoundError"), (("/etc",), "PermissionError")]
)
def test_a_program_that_cannot_be_executed_is_an_os_error_with_its_name(argv: tuple[str, ...], error: str) -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        try:
            await world.start(Executable(argv=argv, launch={}), None)
        except OSError as exc:
            return story(plan, world, f"{type(exc).__name__} {exc.filename}")
        raise AssertionError

    assert told(run(conduct)) == f"{error} {argv[0]}"


def test_a_line_above_one_mebibyte_is_refused_and_lines_up_to_it_are_not() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        talk = "import sys; w=sys.stdout.write; w('a'*(1<<20)+'\\n'); w('b'*((1<<20)+1)+'\\n'); sys.stdout.flush()"
        process = await world.start(Executable(argv=(sys.executable, "-c", talk), launch={}), None)
        lines = process.lines()
        assert await _next(lines) == b"a" * (1 << 20)
        with pytest.raises(ValueError, match="longer than"):
            await _next(lines)
        await process.end(grace_s=0)
        return story(plan, world)

    told(run(conduct))


def test_a_flooding_program_blocks_instead_of_filling_memory() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        process = await world.start(Executable(argv=("yes", "x" * 1000), launch={}), None)
        lines = process.lines()
        await _next(lines)
        await asyncio.sleep(0.5)
        kept = Path("/proc/self/statm").read_text().split()[1]
        await asyncio.sleep(0.5)
        grown_pages = int(Path("/proc/self/statm").read_text().split()[1]) - int(kept)
        for _ in range(20_000):
            assert await _next(lines) == b"x" * 1000
        await process.end(grace_s=0)
        return story(plan, world, str(grown_pages * os.sysconf("SC_PAGE_SIZE")))

    assert int(told(run(conduct))) < 16 << 20


def test_what_delays_a_run_is_counted_for_every_process_on_its_way_also_for_a_broker_that_was_restarted() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        before_s = world.delays()
        process = await world.start(Executable(argv=("sleep", "60"), launch={}), None)
        async with world.pull(KILLED):
            pass
        after_s = world.delays()
        await process.end(grace_s=0)
        grown = all(after_s[name] >= lost_s for name, lost_s in before_s.items())
        return story(plan, world, json.dumps([sorted(before_s), sorted(after_s), grown]))

    before, after, grown = json.loads(told(run(conduct, plan(brokers=2))))
    assert before == ["Toxiproxy", "broker 1", "broker 2"]
    assert after == [*before, "the client"]
    assert grown


def test_the_watch_sees_a_stall_and_every_tick_that_fell_into_it() -> None:
    async def conduct(plan: RunPlan, world: World, _progress: ProgressCallback, _logs: Path | None) -> Story:
        import time

        monitor_lag = world.monitor_lag()
        await asyncio.sleep(0.1)
        time.sleep(0.5)
        await asyncio.sleep(0.1)
        late_s = monitor_lag.end()
        assert monitor_lag.end() == late_s
        return story(plan, world, json.dumps(late_s))

    late_s = json.loads(told(run(conduct)))
    assert 0.49 <= max(late_s) < 2
    # A tick every 10 ms: about 50 of them waited, the first for all of the stall, the last for none of it.
    assert sum(late > 0.1 for late in late_s) >= 38
    assert len(late_s) >= 68
