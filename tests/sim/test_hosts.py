"""Protects what pausing and killing a host means: its code stops, its kernel goes on, its sockets end as they would."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from harness.environments.sim.hosts import HOST, Host
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.levers import PacketAction

ADDRESS = ("127.0.1.1", 9092)


def run(main: Callable[[SimLoop], Coroutine[Any, Any, Any]]) -> Any:
    return simulate(main, Random(1))


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data)
    writer.close()


async def serving(loop: SimLoop, backlog: int = 100) -> Host:
    """A host that echoes."""
    host = loop.new_host("broker")
    await host.spawn(asyncio.start_server(echo, *ADDRESS, backlog=backlog), name="listen")
    return host


def test_every_callback_knows_its_host() -> None:
    async def main(loop: SimLoop) -> list[str]:
        seen: list[str] = []

        async def who() -> None:
            seen.append(HOST.get().name)
            loop.call_later(1, lambda: seen.append(HOST.get().name))
            await asyncio.create_task(deeper())

        async def deeper() -> None:
            seen.append(HOST.get().name)

        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append(HOST.get().name)
            writer.close()

        broker = loop.new_host("broker")
        await broker.spawn(asyncio.start_server(accepted, *ADDRESS), name="listen")
        await loop.new_host("subject").spawn(who(), name="who")
        reader, writer = await asyncio.open_connection(*ADDRESS)
        await reader.read()
        writer.close()
        await asyncio.sleep(2)
        return [*seen, HOST.get().name]

    assert run(main) == ["subject", "subject", "broker", "subject", "main"]


def test_a_paused_host_is_still_connected_to_and_acknowledged() -> None:
    """The dial succeeds, the request is taken, the answer does not come: that is what a frozen broker looks like."""

    async def main(loop: SimLoop) -> None:
        host = await serving(loop)
        host.pause()
        reader, writer = await asyncio.open_connection(*ADDRESS)
        writer.write(b"anybody?")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(loop.time() + 1000):
                await reader.read(1)
        assert not writer.is_closing()
        host.resume()
        assert await reader.read(100) == b"anybody?"

    run(main)


def test_a_paused_host_catches_up_in_order() -> None:
    async def main(loop: SimLoop) -> list[float]:
        began_s = loop.time()
        ticks: list[float] = []

        async def tick() -> None:
            for _ in range(3):
                await asyncio.sleep(1)
                ticks.append(round(loop.time() - began_s, 3))

        host = loop.new_host("ticking")
        host.spawn(tick(), name="tick")
        await asyncio.sleep(1.5)
        host.pause()
        host.pause()
        await asyncio.sleep(10)
        host.resume()
        host.resume()
        await asyncio.sleep(10)
        return ticks

    assert run(main) == [1.0, 11.5, 12.5]


def test_the_accept_queue_of_a_paused_host_fills() -> None:
    async def main(loop: SimLoop) -> None:
        host = await serving(loop, backlog=2)
        host.pause()
        for _ in range(3):
            await asyncio.open_connection(*ADDRESS)
        dial = asyncio.create_task(asyncio.open_connection(*ADDRESS))
        await asyncio.sleep(5.5)
        assert not dial.done()
        host.resume()
        began_s = loop.time()
        await dial
        assert 1.4 <= loop.time() - began_s <= 1.7  # the SYN of 7 s

    run(main)


def test_a_killed_host_runs_no_finally_and_closes_its_sockets() -> None:
    async def main(loop: SimLoop) -> None:
        acted: list[str] = []
        told: list[str] = []

        async def careful(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await reader.read()
            finally:
                acted.append("finally")
                writer.write(b"goodbye")

        host = loop.new_host("broker")
        host.on_killed(lambda: told.append("told"))
        await host.spawn(asyncio.start_server(careful, *ADDRESS), name="listen")
        reader, _writer = await asyncio.open_connection(*ADDRESS)
        await asyncio.sleep(0.1)
        host.kill()
        host.kill()
        assert await reader.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*ADDRESS)
        await asyncio.sleep(100)
        assert acted == []
        assert told == ["told"]
        with pytest.raises(RuntimeError, match="was killed"):
            host.pause()

    run(main)


def test_killing_a_host_with_unread_input_resets_the_peer() -> None:
    async def main(loop: SimLoop) -> None:
        host = await serving(loop)
        reader, writer = await asyncio.open_connection(*ADDRESS)
        await asyncio.sleep(0.1)
        host.pause()
        writer.write(b"unread")
        await asyncio.sleep(0.1)
        host.kill()
        with pytest.raises(ConnectionResetError):
            await reader.read()

    run(main)


def test_what_the_kernel_has_outlives_a_killed_host() -> None:
    """An error, or even the end of the process, does not mean that nothing will be written."""

    async def main(loop: SimLoop) -> bytes:
        arrived: list[bytes] = []

        async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            arrived.append(await reader.read())

        async def speak() -> None:
            _, writer = await asyncio.open_connection(*ADDRESS)
            writer.write(b"last words")
            await asyncio.Event().wait()

        await loop.new_host("broker").spawn(asyncio.start_server(keep, *ADDRESS), name="listen")
        subject = loop.new_host("subject")
        subject.spawn(speak(), name="speak")
        await asyncio.sleep(0)
        with loop.network.rule(PacketRule(ADDRESS, "to_broker", "data", PacketAction.DROP)):
            await asyncio.sleep(1)
            subject.kill()
            assert len(loop.network.undelivered_sockets()) == 1
            await asyncio.sleep(1)
        await asyncio.sleep(5)
        assert loop.network.undelivered_sockets() == ()
        return arrived[0]

    assert run(main) == b"last words"
