"""Protects what a proxy between client and broker does: the simulated one must do as a real Toxiproxy does."""

import asyncio

import pytest
from toolkit import ADDRESS, UPSTREAM, Toolkit, now_s, serve, since

from harness.levers import Flow


async def test_bytes_and_the_end_of_the_stream_go_through(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy():
        reader, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, far_writer = await served.peer()
        writer.write(b"question")
        assert await far_reader.readexactly(8) == b"question"
        far_writer.write(b"x" * 1_000_000)
        far_writer.close()
        assert await reader.read() == b"x" * 1_000_000


async def test_an_end_of_one_direction_closes_both(kit: Toolkit) -> None:
    """A proxy closes what it writes to, whole: a half-closed client gets no answer through it."""
    served = await serve(UPSTREAM)
    async with kit.proxy():
        reader, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, far_writer = await served.peer()
        writer.write(b"question")
        writer.write_eof()
        assert await far_reader.read() == b"question"
        assert await reader.read() == b""
        for _ in range(2):
            far_writer.write(b"answer")
            await asyncio.sleep(0.05)
        assert far_writer.transport.is_closing()


async def test_a_reset_upstream_arrives_as_an_end_of_stream(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy():
        reader, writer = await asyncio.open_connection(*ADDRESS)
        _, far_writer = await served.peer()
        far_writer.transport.pause_reading()
        writer.write(b"unread")
        await asyncio.sleep(0.05)
        far_writer.transport.abort()
        assert await reader.read() == b""


async def test_a_dead_upstream_looks_like_connect_and_end_of_stream(kit: Toolkit) -> None:
    async with kit.proxy():
        reader, _writer = await asyncio.open_connection(*ADDRESS)
        assert await reader.read() == b""


async def test_disabling_closes_and_refuses_and_enabling_serves_again(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        reader, _writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _far_writer = await served.peer()
        await proxy.disable()
        assert await reader.read() == b""
        assert await far_reader.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*ADDRESS)
        await proxy.enable()
        reader, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _far_writer = await served.peer()
        writer.write(b"again")
        assert await far_reader.readexactly(5) == b"again"


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_latency_delays_one_direction_and_no_dial(kit: Toolkit, flow: Flow) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        await proxy.add("latency", flow, latency=400)
        began_s = now_s()
        reader, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, far_writer = await served.peer()
        assert since(began_s) < kit.slack_s
        began_s = now_s()
        writer.write(b"q")
        await far_reader.readexactly(1)
        there_s = since(began_s)
        began_s = now_s()
        far_writer.write(b"a")
        await reader.readexactly(1)
        delayed_s, other_s = (there_s, since(began_s)) if flow == "to_broker" else (since(began_s), there_s)
        assert 0.398 <= delayed_s <= 0.4 + kit.slack_s
        assert other_s < kit.slack_s


async def test_latencies_add_up_and_keep_order(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _far_writer = await served.peer()
        await proxy.add("latency", "to_broker", latency=200, jitter=50)
        await proxy.add("latency", "to_broker", latency=300)
        began_s = now_s()
        for number in range(10):
            writer.write(bytes([number]))
            await asyncio.sleep(0.01)
        assert await far_reader.readexactly(10) == bytes(range(10))
        assert 0.44 <= since(began_s) <= 0.66 + kit.slack_s


async def test_removing_latency_lets_everything_go_at_once(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _far_writer = await served.peer()
        toxic = await proxy.add("latency", "to_broker", latency=60_000)
        writer.write(b"one")
        await asyncio.sleep(0.1)
        writer.write(b"two")
        await asyncio.sleep(0.1)
        began_s = now_s()
        await proxy.remove(toxic)
        assert await far_reader.readexactly(6) == b"onetwo"
        assert since(began_s) < kit.slack_s


async def test_the_end_of_a_stream_waits_behind_delayed_bytes(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        await proxy.add("latency", "to_broker", latency=700)
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _far_writer = await served.peer()
        began_s = now_s()
        writer.write(b"late")
        writer.close()
        assert await far_reader.read() == b"late"
        assert 0.698 <= since(began_s) <= 0.7 + kit.slack_s


async def test_a_peer_that_does_not_read_is_felt_by_the_writer(kit: Toolkit) -> None:
    """Nothing piles up inside the proxy without bound."""
    served = await serve(UPSTREAM)
    async with kit.proxy():
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, far_writer = await served.peer()
        far_writer.transport.pause_reading()
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(bytes(40_000_000))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(now_s() + 1):
                await writer.drain()
        far_writer.transport.resume_reading()
        assert len(await far_reader.readexactly(40_000_000)) == 40_000_000
        await writer.drain()
