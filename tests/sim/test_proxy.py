"""Protects what the simulated Toxiproxy does when processes pause or die; the rest is held by the contract."""

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


def test_a_killed_upstream_is_an_end_of_stream_for_those_that_were_connected() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, _writer), _ = await chain.pair()
        chain.host.kill()
        assert await reader.read() == b""

    run(body)


def test_a_killed_proxy_closes_its_connections() -> None:
    async def body(loop: SimLoop, chain: Chain) -> None:
        (reader, _writer), (far_reader, _) = await chain.pair()
        chain.proxies.kill()
        assert await reader.read() == b""
        assert await far_reader.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*LISTEN)

    run(body)
