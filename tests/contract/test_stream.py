"""Protects reading and writing on both worlds: partial reads, deadlines, cancellation, full buffers, dark links."""

import asyncio

import pytest
from toolkit import (
    Toolkit,
    data_retransmissions_s,
    next_after,
    now_s,
    pair,
    since,
    tail_retransmissions_s,
)

MUCH = 24 * 2**20
"""More than both kernels' buffers hold."""

SMALL = 2**20
"""Less than the send buffer holds."""


async def test_a_read_returns_what_has_come(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    writer.write(b"abc")
    assert await far_reader.read(100) == b"abc"
    writer.write(b"def")
    await asyncio.sleep(0.01)
    writer.write(b"ghi")
    assert await far_reader.readexactly(6) == b"defghi"


async def test_a_stream_that_ends_short_says_so(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    writer.write(b"half")
    writer.close()
    with pytest.raises(asyncio.IncompleteReadError) as short:
        await far_reader.readexactly(8)
    assert short.value.partial == b"half"


async def test_a_read_ends_at_its_deadline_and_loses_nothing(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    began_s = now_s()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout_at(began_s + 0.3):
            await far_reader.readexactly(4)
    assert 0.3 <= since(began_s) < 0.3 + kit.slack_s
    writer.write(b"late")
    assert await far_reader.readexactly(4) == b"late"


async def test_a_cancelled_read_loses_nothing(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    reading = asyncio.create_task(far_reader.readexactly(6))
    writer.write(b"abc")
    await asyncio.sleep(0.05)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    writer.write(b"def")
    assert await far_reader.readexactly(6) == b"abcdef"


async def test_drain_waits_for_a_peer_that_does_not_read(kit: Toolkit) -> None:
    (_, writer), (far_reader, far_writer) = await pair()
    writer.transport.set_write_buffer_limits(high=0)
    far_writer.transport.pause_reading()
    writer.write(bytes(MUCH))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout_at(now_s() + 0.5):
            await writer.drain()
    draining = asyncio.create_task(writer.drain())
    far_writer.transport.resume_reading()
    assert await far_reader.readexactly(MUCH) == bytes(MUCH)
    await draining


async def test_a_cancelled_drain_loses_nothing(kit: Toolkit) -> None:
    (_, writer), (far_reader, far_writer) = await pair()
    writer.transport.set_write_buffer_limits(high=0)
    far_writer.transport.pause_reading()
    writer.write(b"a" * MUCH)
    draining = asyncio.create_task(writer.drain())
    await asyncio.sleep(0.05)
    draining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await draining
    far_writer.transport.resume_reading()
    writer.write(b"b")
    assert (await far_reader.readexactly(MUCH + 1))[-2:] == b"ab"


async def test_the_send_buffer_takes_a_request_into_the_dark_at_once(kit: Toolkit) -> None:
    """So a write time-out says nothing there, and the wait is spent on the answer."""
    (_, writer), (far_reader, _) = await pair()
    writer.transport.set_write_buffer_limits(high=0)
    async with kit.packets("to_broker"):
        began_s = now_s()
        writer.write(bytes(SMALL))
        await writer.drain()
        assert since(began_s) < 0.05 + kit.slack_s
        await asyncio.sleep(0.3)
    assert await far_reader.readexactly(SMALL) == bytes(SMALL)


async def test_a_request_beyond_the_send_buffer_blocks_in_the_dark(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    writer.transport.set_write_buffer_limits(high=0)
    async with kit.packets("to_broker"):
        writer.write(bytes(MUCH))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(now_s() + 0.3):
                await writer.drain()
    assert len(await far_reader.readexactly(MUCH)) == MUCH
    await writer.drain()


@pytest.mark.parametrize("healed_s", [0.3, 0.5, 1.0, 2.0])
async def test_a_dark_request_arrives_at_the_next_retransmission(kit: Toolkit, healed_s: float) -> None:
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker") as rule:
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(healed_s)
        assert await rule.packets() >= 2
    healed_at_s = since(sent_s)
    assert await far_reader.readexactly(7) == b"request"
    earliest_s, latest_s = next_after(data_retransmissions_s(), healed_s, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


@pytest.mark.parametrize("healed_s", [0.5, 1.0])
async def test_a_dark_answer_is_sent_again_by_the_answerer(kit: Toolkit, healed_s: float) -> None:
    """Each direction has its own timers: the request arrives at once."""
    (reader, writer), (far_reader, far_writer) = await pair()
    async with kit.packets("to_client"):
        writer.write(b"request")
        assert await far_reader.readexactly(7) == b"request"
        answered_s = now_s()
        far_writer.write(b"answer")
        await asyncio.sleep(healed_s)
    healed_at_s = since(answered_s)
    assert await reader.readexactly(6) == b"answer"
    earliest_s, latest_s = next_after(data_retransmissions_s(), healed_s, healed_at_s)
    assert earliest_s <= since(answered_s) <= latest_s + kit.slack_s


async def test_several_dark_segments_have_their_own_rhythm(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker"):
        sent_s = now_s()
        for size in (1000, 1000, 1000):
            writer.write(bytes(size))
        await asyncio.sleep(0.4)
    healed_at_s = since(sent_s)
    await far_reader.readexactly(3000)
    earliest_s, latest_s = next_after(tail_retransmissions_s(), 0.4, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


async def test_what_is_written_in_the_dark_waits_for_the_retransmission_before_it(kit: Toolkit) -> None:
    """After a retransmission timeout nothing new is sent until the first bytes are acknowledged."""
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker"):
        sent_s = now_s()
        writer.write(b"first")
        await asyncio.sleep(1.0)
    healed_at_s = since(sent_s)
    writer.write(b"second")
    assert await far_reader.readexactly(11) == b"firstsecond"
    earliest_s, latest_s = next_after(data_retransmissions_s(), 1.0, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s
