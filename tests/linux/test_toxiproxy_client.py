"""Protects the wrapped Toxiproxy client against the real server: what is written holds, and whatever goes wrong (a
server that died, hangs, or answers HTTP 500) is an error that says so, in bounded time.

Each test runs in a cell of its own with a real server in it.
"""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from harness.environments.linux.toxiproxy import server as toxiproxy_server
from harness.environments.linux.toxiproxy.client import BlockingToxiproxy, ToxiproxyClient
from harness.environments.linux.toxiproxy.http_transport import ToxiproxyFailed
from harness.environments.local.cell import call_in_cell
from harness.environments.local.children import ChildFiles, ChildProcess, execute
from harness.toxiproxy.obtain import VERSION, ToxiproxyMissing, find

pytestmark = pytest.mark.cell

LISTEN, UPSTREAM = "127.0.2.1:9092", "127.0.1.1:9092"


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return find()
    except ToxiproxyMissing as missing:
        pytest.fail(str(missing))


async def _start(program: Path, host: str) -> ChildProcess:
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        return execute(
            "Toxiproxy",
            toxiproxy_server.command(program, host, 8474),
            {**os.environ, **toxiproxy_server.ENVIRONMENT},
            ChildFiles(stdin=nowhere, stdout=nowhere, stderr=nowhere),
        )
    finally:
        os.close(nowhere)


def _with_server(
    program: Path, test: Callable[[ToxiproxyClient, ChildProcess], Awaitable[None]], *, timeout_s: float = 8.0
) -> None:
    async def body() -> None:
        child = await _start(program, "127.0.3.1")
        client = ToxiproxyClient("127.0.3.1", 8474, timeout_s=timeout_s)
        await toxiproxy_server.await_ready(client, child.alive)
        await test(client, child)
        client.close()

    call_in_cell(body, timeout_s=60)


def _create(server: BlockingToxiproxy) -> None:
    server.create("broker-1", listen=LISTEN, upstream=UPSTREAM)


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def _round_trip_s(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    began = time.monotonic()
    writer.write(b"?")
    await reader.readexactly(1)
    return time.monotonic() - began


def test_a_proxy_carries_is_disabled_and_enabled_again(program: Path) -> None:
    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        upstream = await asyncio.start_server(_echo, "127.0.1.1", 9092)
        assert await client.call(lambda s: s.version()) == VERSION
        await client.call(_create)
        states = await client.call(lambda s: s.proxies())
        assert (states["broker-1"].listen, states["broker-1"].upstream, states["broker-1"].enabled) == (
            LISTEN,
            UPSTREAM,
            True,
        )
        reader, writer = await asyncio.open_connection("127.0.2.1", 9092)
        await _round_trip_s(reader, writer)
        await client.call(lambda s: s.disable("broker-1"))
        assert await reader.read(1) == b""
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.2.1", 9092)
        await client.call(lambda s: s.enable("broker-1"))
        await _round_trip_s(*await asyncio.open_connection("127.0.2.1", 9092))
        await client.call(lambda s: s.destroy("broker-1"))
        assert await client.call(lambda s: s.proxies()) == {}
        upstream.close()

    _with_server(program, test)


def test_a_toxic_delays_and_its_removal_ends_that(program: Path) -> None:
    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        upstream = await asyncio.start_server(_echo, "127.0.1.1", 9092)
        await client.call(_create)
        reader, writer = await asyncio.open_connection("127.0.2.1", 9092)
        await client.call(
            lambda s: s.add_toxic(
                "broker-1", "slow", kind="latency", stream="downstream", attributes={"latency": 300}, toxicity=1.0
            )
        )
        assert (await client.call(lambda s: s.proxies()))["broker-1"].toxics == ("slow",)
        assert await _round_trip_s(reader, writer) >= 0.3
        await client.call(lambda s: s.remove_toxic("broker-1", "slow"))
        fastest = min([await _round_trip_s(reader, writer) for _ in range(5)])
        assert fastest < 0.3
        upstream.close()

    _with_server(program, test)


def test_reset_enables_every_proxy_and_removes_every_toxic(program: Path) -> None:
    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        await client.call(_create)
        await client.call(
            lambda s: s.add_toxic("broker-1", "a", kind="bandwidth", stream="upstream", attributes={"rate": 1})
        )
        await client.call(lambda s: s.disable("broker-1"))
        await client.call(lambda s: s.reset())
        state = (await client.call(lambda s: s.proxies()))["broker-1"]
        assert (state.enabled, state.toxics) == (True, ())

    _with_server(program, test)


def test_what_the_server_takes_but_does_not_do_is_an_error(program: Path) -> None:
    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        await client.call(_create)

        def misspelt(server: BlockingToxiproxy) -> None:
            server.add_toxic("broker-1", "t", kind="latency", stream="upstream", attributes={"latncy": 300})

        with pytest.raises(ToxiproxyFailed, match="latncy"):
            await client.call(misspelt)

        def unknown_kind(server: BlockingToxiproxy) -> None:
            server.add_toxic("broker-1", "u", kind="sloth", stream="upstream", attributes={})

        with pytest.raises(ToxiproxyFailed, match="HTTP 400: invalid toxic type"):
            await client.call(unknown_kind)
        with pytest.raises(ToxiproxyFailed, match="HTTP 404: toxic not found"):
            await client.call(lambda s: s.remove_toxic("broker-1", "never-added"))
        with pytest.raises(ToxiproxyFailed, match="has no proxy broker-9"):
            await client.call(lambda s: s.enable("broker-9"))

    _with_server(program, test)


def test_http_500_is_an_error(program: Path) -> None:
    """Toxiproxy answers 500 where it cannot listen: toxiproxy-python takes that for success."""

    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        occupied = await asyncio.start_server(_echo, "127.0.2.1", 9092)
        with pytest.raises(ToxiproxyFailed, match=r"HTTP 500: .*address already in use"):
            await client.call(_create)
        occupied.close()
        await occupied.wait_closed()
        await client.call(_create)
        await client.call(lambda s: s.disable("broker-1"))
        occupied = await asyncio.start_server(_echo, "127.0.2.1", 9092)
        with pytest.raises(ToxiproxyFailed, match=r"HTTP 500: .*address already in use"):
            await client.call(lambda s: s.enable("broker-1"))
        occupied.close()

    _with_server(program, test)


def test_a_killed_server_is_named_at_once(program: Path) -> None:
    async def test(client: ToxiproxyClient, child: ChildProcess) -> None:
        await client.call(_create)
        child.kill(whole_group=False)
        assert await child.ended == -signal.SIGKILL
        began = time.monotonic()
        with pytest.raises(ToxiproxyFailed, match=r"broke off GET /proxies .*it has died"):
            await client.call(lambda s: s.disable("broker-1"))
        assert time.monotonic() - began < 8.0

    _with_server(program, test)


def test_a_server_killed_in_the_middle_of_a_call_is_named(program: Path) -> None:
    async def test(client: ToxiproxyClient, child: ChildProcess) -> None:
        await client.call(_create)
        os.kill(child.pid, signal.SIGSTOP)
        calling = asyncio.ensure_future(client.call(lambda s: s.disable("broker-1")))
        await asyncio.sleep(0.1)
        assert not calling.done()
        child.kill(whole_group=False)
        with pytest.raises(ToxiproxyFailed, match="broke off"):
            await calling

    _with_server(program, test)


def test_a_hung_server_is_given_up_and_the_loop_stays_free(program: Path) -> None:
    async def test(client: ToxiproxyClient, child: ChildProcess) -> None:
        await client.call(_create)
        os.kill(child.pid, signal.SIGSTOP)
        ticks = 0

        async def count() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        counting = asyncio.ensure_future(count())
        began = time.monotonic()
        with pytest.raises(ToxiproxyFailed, match=r"did not answer GET /proxies within 0\.5 s: it hangs"):
            await client.call(lambda s: s.disable("broker-1"))
        assert time.monotonic() - began >= 0.5
        counting.cancel()
        assert ticks > 5
        os.kill(child.pid, signal.SIGCONT)
        await client.call(lambda s: s.enable("broker-1"))

    _with_server(program, test, timeout_s=0.5)


def test_a_toxic_whose_removal_hangs_the_server_is_an_error(program: Path) -> None:
    """The receiver reads nothing, the toxic's goroutine waits to write: Toxiproxy 2.12.0 never answers the removal."""

    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        sent = 0

        async def send_for_ever(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal sent
            while True:
                writer.write(bytes(1 << 16))
                await writer.drain()
                sent += 1

        await asyncio.start_server(send_for_ever, "127.0.1.1", 9092)
        await client.call(_create)
        await client.call(
            lambda s: s.add_toxic("broker-1", "t", kind="latency", stream="downstream", attributes={"latency": 1})
        )
        reader, _ = await asyncio.open_connection("127.0.2.1", 9092, limit=1024)
        await reader.readexactly(1)
        # The buffers of both sockets fill; then nothing moves any more.
        before = -1
        while sent != before:
            before = sent
            await asyncio.sleep(0.3)
        with pytest.raises(ToxiproxyFailed, match=r"did not answer DELETE /proxies/broker-1/toxics/t .*it hangs"):
            await client.call(lambda s: s.remove_toxic("broker-1", "t"))

    _with_server(program, test, timeout_s=6.0)


def test_the_environment_has_no_say_and_two_servers_are_kept_apart(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    async def test(client: ToxiproxyClient, _child: ChildProcess) -> None:
        other_child = await _start(program, "127.0.3.2")
        other = ToxiproxyClient("127.0.3.2", 8474)
        await toxiproxy_server.await_ready(other, other_child.alive)
        await client.call(_create)
        assert set(await client.call(lambda s: s.proxies())) == {"broker-1"}
        assert await other.call(lambda s: s.proxies()) == {}
        other.close()

    _with_server(program, test)
