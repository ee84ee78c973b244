"""Protects virtual time: asyncio's own tools work on it, nothing real gets in, and what hangs is named."""

import asyncio
import contextvars
import gc
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from client.net.tcp import KeepAlive, connect
from harness.environments.sim.loop import Deadlock, Interrupted, Livelock, SimLoop
from harness.environments.sim.simulation import simulate


def run(main: Callable[[SimLoop], Coroutine[Any, Any, Any]]) -> Any:
    return simulate(main, Random(1))


def test_time_jumps_to_the_next_timer() -> None:
    async def main(loop: SimLoop) -> list[float]:
        began_s = loop.time()
        await asyncio.sleep(3600)
        seen = [loop.time() - began_s]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(loop.time() + 86_400):
                await asyncio.Event().wait()
        seen.append(loop.time() - began_s)
        return seen

    began_s = time.monotonic()
    assert run(main) == [3600, 3600 + 86_400]
    assert time.monotonic() - began_s < 5


def test_no_time_passes_while_code_runs() -> None:
    async def main(loop: SimLoop) -> float:
        began_s = loop.time()
        for _ in range(1000):
            await asyncio.sleep(0)
        return loop.time() - began_s

    assert run(main) == 0


def test_timers_of_one_moment_fire_in_the_order_of_their_making() -> None:
    async def main(loop: SimLoop) -> list[int]:
        fired: list[int] = []
        for number in range(50):
            loop.call_at(loop.time() + 1, fired.append, number)
        loop.call_at(loop.time() - 5, fired.append, -1)
        await asyncio.sleep(1)
        return fired

    assert run(main) == [-1, *range(50)]


def test_queues_gather_locks_and_streams_work() -> None:
    async def main(loop: SimLoop) -> list[Any]:
        queue: asyncio.Queue[int] = asyncio.Queue(1)

        async def produce() -> None:
            for number in range(3):
                await asyncio.sleep(1)
                await queue.put(number)

        async def consume() -> list[int]:
            return [await queue.get() for _ in range(3)]

        async def upper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write((await reader.readline()).upper())
            writer.close()

        async with asyncio.Lock():
            taken, _ = await asyncio.gather(consume(), produce())
        server = await asyncio.start_server(upper, "127.0.1.1", 9092)
        reader, writer = await asyncio.open_connection("127.0.1.1", 9092)
        writer.write(b"hello\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()
        return [taken, answer]

    assert run(main) == [[0, 1, 2], b"HELLO\n"]


def test_cancelled_timers_are_swept() -> None:
    async def main(loop: SimLoop) -> int:
        timers = []
        for _ in range(10_000):
            timer = loop.call_later(30, print)
            timer.cancel()
            timers.append(weakref.ref(timer))
        del timer
        return sum(one() is not None for one in timers)

    assert run(main) < 300


def test_a_deadlock_names_what_waits_and_where() -> None:
    async def nobody_puts(queue: "asyncio.Queue[int]") -> None:
        await queue.get()

    async def main(loop: SimLoop) -> None:
        broker = loop.new_host("broker-1")
        waiting = broker.spawn(nobody_puts(asyncio.Queue()), name="acceptor")
        loop.new_host("broker-2").pause()
        await asyncio.shield(waiting)

    with pytest.raises(Deadlock) as hung:
        run(main)
    text = str(hung.value)
    assert "broker-1: acceptor in test_a_deadlock_names_what_waits_and_where.<locals>.nobody_puts, at queues.py" in text
    assert "main: main in" in text
    assert "broker-2 is paused" in text


def test_keep_alives_of_an_idle_connection_hide_no_deadlock() -> None:
    async def main(loop: SimLoop) -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.2.1", 9092)
        stream = await connect("127.0.2.1", 9092, deadline_at=None, keep_alive=KeepAlive(15.0, 15.0, 9))
        await stream.read_full(1)
        server.close()

    with pytest.raises(Deadlock, match="main: main in"):
        run(main)


def test_a_loop_in_which_no_time_passes_is_named() -> None:
    async def main(loop: SimLoop) -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Livelock, match=r"main: main in test_a_loop_in_which_no_time_passes_is_named.<locals>.main"):
        run(main)


def test_threads_names_and_other_threads_have_no_place() -> None:
    async def main(loop: SimLoop) -> None:
        with pytest.raises(RuntimeError, match="threads have no place"):
            await loop.run_in_executor(None, time.monotonic)
        with pytest.raises(RuntimeError, match="no name service"):
            await loop.getaddrinfo("broker.example", 9092)
        with pytest.raises(ValueError, match="wants an IP address"):
            await asyncio.open_connection("broker.example", 9092)
        with pytest.raises(ValueError, match="there is no ssl="):
            await asyncio.open_connection("127.0.1.1", 9092, ssl=True)
        errors: list[str] = []

        def call_in() -> None:
            try:
                loop.call_soon_threadsafe(print)
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=call_in)
        thread.start()
        thread.join()
        assert "no other thread" in errors[0]

    run(main)


def test_it_can_be_interrupted_from_another_thread() -> None:
    ready = threading.Event()
    loops: list[SimLoop] = []

    async def main(loop: SimLoop) -> None:
        loops.append(loop)
        ready.set()
        while True:
            await asyncio.sleep(1)

    def stop() -> None:
        ready.wait()
        loops[0].interrupt()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(Interrupted):
        run(main)
    stopper.join()


def test_nothing_is_left_and_nothing_warns() -> None:
    """Open connections, waiting tasks, unfinished generators, a killed host's task with a `finally`: all end."""
    ended: list[str] = []

    async def main(loop: SimLoop) -> None:
        async def linger(what: str) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(what)

        async def numbers() -> Any:
            try:
                yield 1
            finally:
                ended.append("generator")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()

        async def talk() -> None:
            _, writer = await asyncio.open_connection("127.0.1.1", 9092)
            writer.write(b"hello")
            await linger("talking")

        await asyncio.start_server(serve, "127.0.1.1", 9092)
        asyncio.create_task(talk())  # noqa: RUF006 - that nobody holds it is the point
        killed = loop.new_host("killed")
        killed.spawn(talk(), name="t")
        killed.spawn(linger("killed"), name="k")
        asyncio.create_task(linger("running"))  # noqa: RUF006
        await asyncio.sleep(1)
        killed.kill()
        async for _ in numbers():
            break
        assert ended == []

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(main)
        gc.collect()
    assert sorted(ended) == ["generator", "killed", "running", "talking", "talking"]
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


def test_a_task_that_nobody_holds_is_not_collected() -> None:
    async def main(loop: SimLoop) -> str:
        alive: list[str] = []

        async def forgotten() -> None:
            try:
                await loop.create_future()
            finally:
                alive.append("ended")

        asyncio.create_task(forgotten())  # noqa: RUF006
        await asyncio.sleep(1)
        gc.collect()
        await asyncio.sleep(1)
        return "alive" if not alive else "collected"

    assert run(main) == "alive"


def test_context_variables_reach_callbacks() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def main(loop: SimLoop) -> list[str]:
        seen: list[str] = []
        name.set("here")
        loop.call_later(1, lambda: seen.append(name.get()))
        await asyncio.sleep(2)
        return seen

    assert run(main) == ["here"]
