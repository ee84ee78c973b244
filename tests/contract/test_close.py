"""Protects how connections end on both worlds: half-close, orderly close, reset, and what close and abort deliver."""

import asyncio

import pytest
from toolkit import Toolkit, data_retransmissions_s, next_after, now_s, pair, since, tail_retransmissions_s

from harness.levers import PacketAction

MUCH = 24 * 2**20
"""More than both kernels' buffers hold."""


async def test_half_close_leaves_the_other_direction_open(kit: Toolkit) -> None:
    (reader, writer), (far_reader, far_writer) = await pair()
    writer.write(b"all I have")
    writer.write_eof()
    assert await far_reader.read() == b"all I have"
    far_writer.write(b"and my ")
    await asyncio.sleep(0.01)
    far_writer.write(b"answer")
    far_writer.close()
    assert await reader.read() == b"and my answer"
    with pytest.raises(RuntimeError):
        writer.write(b"more")


async def test_an_orderly_close_is_an_end_of_stream(kit: Toolkit) -> None:
    (reader, _writer), (_, far_writer) = await pair()
    far_writer.write(b"last")
    far_writer.close()
    await far_writer.wait_closed()
    assert await reader.read() == b"last"
    assert reader.at_eof()


async def test_unread_input_at_close_is_a_reset(kit: Toolkit) -> None:
    (reader, writer), (_, far_writer) = await pair()
    far_writer.transport.pause_reading()
    writer.write(b"nobody reads this")
    await asyncio.sleep(0.01)
    far_writer.transport.abort()
    with pytest.raises(ConnectionResetError):
        await reader.read()


async def test_what_came_before_a_reset_is_still_read(kit: Toolkit) -> None:
    (reader, writer), (_, far_writer) = await pair()
    far_writer.transport.pause_reading()
    writer.write(b"nobody reads this")
    writer.transport.pause_reading()
    far_writer.write(b"before")
    await asyncio.sleep(0.01)
    far_writer.transport.abort()
    await asyncio.sleep(0.01)
    writer.transport.resume_reading()
    assert await reader.readexactly(6) == b"before"
    with pytest.raises(ConnectionResetError):
        await reader.read()


async def test_a_refusing_rule_resets_an_open_connection_that_speaks(kit: Toolkit) -> None:
    (reader, writer), _ = await pair()
    async with kit.packets("to_broker", verdict=PacketAction.REFUSE) as rule:
        writer.write(b"anybody?")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert await rule.packets() >= 1


async def test_writing_to_a_peer_that_has_gone_fails_at_the_second_try(kit: Toolkit) -> None:
    """The first write is taken by the kernel and answered with a reset: until then a peer may have closed half."""
    (reader, writer), (_, far_writer) = await pair()
    far_writer.close()
    assert await reader.read() == b""
    writer.write(b"first")
    await writer.drain()
    await asyncio.sleep(0.01)
    writer.write(b"second")
    await asyncio.sleep(0.01)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        await writer.drain()


async def test_a_write_directly_after_one_that_met_no_peer_fails(kit: Toolkit) -> None:
    """The reset is there when the first call returns: nothing has to be awaited in between."""
    (reader, writer), (_, far_writer) = await pair()
    far_writer.close()
    assert await reader.read() == b""
    writer.write(b"first")
    writer.write(b"second")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        await writer.drain()


async def test_a_write_directly_after_one_that_a_rule_refused_fails(kit: Toolkit) -> None:
    (_, writer), _ = await pair()
    async with kit.packets("to_broker", verdict=PacketAction.REFUSE):
        writer.write(b"first")
        writer.write(b"second")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            await writer.drain()


async def test_abort_drops_what_the_kernel_has_not_taken(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker"):
        writer.write(bytes(MUCH))
        writer.transport.abort()
        await asyncio.sleep(0.05)
    arrived = await far_reader.read()
    assert 2**20 <= len(arrived) < MUCH // 2


async def test_close_keeps_delivering(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker"):
        writer.write(bytes(MUCH))
        writer.close()
        await asyncio.sleep(0.05)
    assert len(await far_reader.read()) == MUCH


async def test_a_request_is_delivered_after_its_connection_was_closed(kit: Toolkit) -> None:
    """FIN-WAIT-1 goes on retransmitting: what failed for its caller arrives once the link is healed. The FIN is a
    second segment, so the rhythm is that of several."""
    (_, writer), (far_reader, _) = await pair()
    sent_s = now_s()
    async with kit.packets("to_broker"):
        writer.write(b"zombie")
        writer.transport.abort()
        await asyncio.sleep(1.0)
    healed_at_s = since(sent_s)
    assert await far_reader.read() == b"zombie"
    earliest_s, latest_s = next_after(tail_retransmissions_s(), 1.0, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


async def test_an_end_of_stream_in_the_dark_arrives_after_healing(kit: Toolkit) -> None:
    (reader, _writer), (_, far_writer) = await pair()
    sent_s = now_s()
    async with kit.packets("to_client"):
        far_writer.close()
        await asyncio.sleep(0.5)
    healed_at_s = since(sent_s)
    assert await reader.read() == b""
    earliest_s, latest_s = next_after(data_retransmissions_s(), 0.5, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s
