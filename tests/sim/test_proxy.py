"""Protects the simulated Toxiproxy: dials, ends of streams, resets and bytes go through it as through the real one."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from harness.environments.sim.hosts import Host
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.proxy import Proxy
from harness.environments.sim.simulation import simulate

LISTEN = ("127.0.2.1", 9092)
UPSTREAM = ("127.0.1.1", 9092)

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Chain:
    """Client | proxy | server: the connections that the server has accepted, in order."""

    def __init__(self, loop: SimLoop) -> None:
        self.host: Host = loop.new_host("broker")
        self.proxies = loop.new_host("proxies")
        self.proxy = Proxy(self.proxies, loop, LISTEN, UPSTREAM, Random(5))
        self.accepted: asyncio.Queue[Peer] = asyncio.Queue()

    async def start(self) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.accepted.put_nowait((reader, writer))

        await self.host.spawn(asyncio.start_server(accept, *UPSTREAM), name="listen")
        self.proxy.enable()

    async def pair(self) -> tuple[Peer, Peer]:
        near = await asyncio.open_connection(*LISTEN)
        return near, await self.accepted.get()


def run(body: Callable[[SimLoop, Chain], Coroutine[Any, Any, Any]]) -> Any:
    async def main(loop: SimLoop) -> Any:
        chain = Chain(loop)
        await chain.start()
        return await body(loop, chain)

    return simulate(main, Random(1))


def test_bytes_and_the_end_of_the_stream_go_through() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, writer), (far_reader, far_writer) = await chain.pair()
        writer.write(b"question")
        assert await far_reader.readexactly(8) == b"question"
        far_writer.write(b"x" * 1_000_000)
        far_writer.close()
        assert await reader.read() == b"x" * 1_000_000

    run(body)


def test_an_end_of_one_direction_closes_both() -> None:
    """Toxiproxy closes what it writes to, whole: a half-closed client gets no answer through it."""

    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, writer), (far_reader, far_writer) = await chain.pair()
        writer.write(b"question")
        writer.write_eof()
        assert await far_reader.read() == b"question"
        assert await reader.read() == b""
        far_writer.write(b"answer")
        await asyncio.sleep(0.01)
        far_writer.write(b"answer")
        await asyncio.sleep(0.01)
        assert far_writer.transport.is_closing()

    run(body)


def test_a_reset_upstream_arrives_as_an_end_of_stream() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, writer), (_, far_writer) = await chain.pair()
        far_writer.transport.pause_reading()
        writer.write(b"unread")
        await asyncio.sleep(0.01)
        far_writer.transport.abort()
        assert await reader.read() == b""

    run(body)


def test_a_dead_upstream_looks_like_connect_and_end_of_stream() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        chain.host.kill()
        reader, _writer = await asyncio.open_connection(*LISTEN)
        assert await reader.read() == b""

    run(body)


def test_a_paused_upstream_keeps_the_connection_and_says_nothing() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, writer), _ = await chain.pair()
        chain.host.pause()
        writer.write(b"anybody?")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(loop.time() + 100):
                await reader.read()

    run(body)


def test_it_dials_one_after_the_other_while_the_kernel_accepts_all() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        chain.proxies.pause()
        near = [await asyncio.open_connection(*LISTEN) for _ in range(3)]
        began_s = loop.time()
        chain.proxies.resume()
        seen_s = []
        for _ in near:
            await chain.accepted.get()
            seen_s.append(loop.time() - began_s)
        # SYN, SYN-ACK, ACK each way before the next dial begins.
        assert seen_s == pytest.approx([90e-6, 150e-6, 210e-6], abs=1e-9)

    run(body)


def test_disabling_closes_and_refuses_and_enabling_serves_again() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, _writer), (far_reader, _) = await chain.pair()
        await chain.proxy.disable()
        assert await reader.read() == b""
        assert await far_reader.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*LISTEN)
        assert loop.network.refused[LISTEN] == 1
        chain.proxy.enable()
        await chain.pair()

    run(body)


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
def test_latency_delays_one_direction(flow: Any) -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, writer), (far_reader, far_writer) = await chain.pair()
        chain.proxy.add("latency", flow, {"latency": 200})
        began_s = loop.time()
        writer.write(b"q")
        await far_reader.readexactly(1)
        there_s = loop.time() - began_s
        far_writer.write(b"a")
        await reader.readexactly(1)
        back_s = loop.time() - began_s - there_s
        delayed, other = (there_s, back_s) if flow == "to_broker" else (back_s, there_s)
        assert delayed == pytest.approx(0.2, abs=0.001)
        assert other == pytest.approx(60e-6, abs=1e-9)

    run(body)


def test_latencies_add_up_and_keep_order() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (_, writer), (far_reader, _) = await chain.pair()
        chain.proxy.add("latency", "to_broker", {"latency": 100, "jitter": 50})
        chain.proxy.add("latency", "to_broker", {"latency": 300})
        began_s = loop.time()
        for number in range(10):
            writer.write(bytes([number]))
            await asyncio.sleep(0.01)
        assert await far_reader.readexactly(10) == bytes(range(10))
        assert 0.35 <= loop.time() - began_s <= 0.55

    run(body)


def test_removing_latency_lets_everything_go_at_once() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (_, writer), (far_reader, _) = await chain.pair()
        toxic = chain.proxy.add("latency", "to_broker", {"latency": 60_000})
        writer.write(b"one")
        await asyncio.sleep(0.5)
        writer.write(b"two")
        writer.close()
        await asyncio.sleep(0.5)
        began_s = loop.time()
        chain.proxy.remove(toxic, "to_broker")
        assert await far_reader.read() == b"onetwo"
        assert loop.time() - began_s < 0.001

    run(body)


def test_the_end_of_a_stream_waits_behind_delayed_bytes() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        chain.proxy.add("latency", "to_broker", {"latency": 1000})
        (_, writer), (far_reader, _) = await chain.pair()
        began_s = loop.time()
        writer.write(b"late")
        writer.close()
        assert await far_reader.read() == b"late"
        assert loop.time() - began_s == pytest.approx(1.0, abs=0.001)

    run(body)


def test_a_peer_that_does_not_read_is_felt_by_the_writer() -> None:
    """Nothing piles up inside the proxy without bound."""

    async def body(loop: SimLoop, chain: Chain) -> None:
        (_, writer), (far_reader, far_writer) = await chain.pair()
        far_writer.transport.pause_reading()
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(bytes(40_000_000))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(loop.time() + 5):
                await writer.drain()
        far_writer.transport.resume_reading()
        assert len(await far_reader.readexactly(40_000_000)) == 40_000_000
        await writer.drain()

    run(body)
