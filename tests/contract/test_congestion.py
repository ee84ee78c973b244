"""Protects how many round trips a message takes on a path that delays packets: as many as the kernel's congestion
window has it, on simulated sockets as on real ones.

Ten segments of 1,448 bytes leave at once, and after each round trip twice as many (Linux, tcp_slow_start): 14 KiB in
one round trip, 42 in two, 98 in three. An eleventh, sent as a probe of the tail, may hold up the last of them for as
long as its acknowledgement is delayed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from toolkit import ADDRESS, Peer, Toolkit, now_s, pair, serve, since

from harness.levers import FLOWS, Delays, PacketAction

DELAY_S = 0.3
ROUND_TRIP_S = 2 * DELAY_S
HELD_UP_S = 0.008 + 0.044
"""A probe after 2 ms and an acknowledgement after 40, each up to a slot of the timer wheel late."""
ROUND_TRIPS = {10: 1, 20: 2, 40: 2, 64: 3}
"""By the KiB of a connection's first large message."""

LARGE, BATCH = 2_000_000, 65_536


class Line:
    """A connection whose server says something after each message, and a fault that delays its packets."""

    def __init__(self, kit: Toolkit) -> None:
        self._kit = kit
        self._near: Peer | None = None
        self._far: Peer | None = None
        self._stack = AsyncExitStack()

    async def dial(self) -> None:
        served = await serve(limit=2**15)
        self._near = await asyncio.open_connection(*ADDRESS)
        self._far = await served.peer()
        served.close()

    @property
    def writer(self) -> asyncio.StreamWriter:
        assert self._near is not None
        return self._near[1]

    async def delay(self, seconds: float = DELAY_S) -> None:
        for flow in FLOWS:
            late = self._kit.packets(flow, verdict=PacketAction.DELAY, delays=Delays(seconds=(seconds,)))
            await self._stack.enter_async_context(late)

    async def took_s(self, kilobytes: float) -> float:
        """How long it takes until a message is answered."""
        assert self._near is not None
        assert self._far is not None
        (reader, writer), (far_reader, far_writer) = self._near, self._far
        left = round(1024 * kilobytes)
        began_s = now_s()
        writer.write(bytes(left))
        while left:
            left -= len(await far_reader.read(left))
        far_writer.write(b"!")
        await reader.readexactly(1)
        return since(began_s)

    async def close(self) -> None:
        await self._stack.aclose()
        for end in (self._near, self._far):
            if end is not None:
                end[1].transport.abort()


@asynccontextmanager
async def line(kit: Toolkit) -> AsyncIterator[Line]:
    kit.send_ordinary_packets()
    made = Line(kit)
    try:
        yield made
    finally:
        await made.close()


def assert_round_trips(kit: Toolkit, taken_s: float, number: int, round_trip_s: float = ROUND_TRIP_S) -> None:
    assert number * round_trip_s <= taken_s <= number * round_trip_s + HELD_UP_S + kit.slack_s


@pytest.mark.parametrize("kilobytes", ROUND_TRIPS)
async def test_a_message_on_a_connection_that_knew_a_short_path_takes_the_round_trips_of_slow_start(
    kit: Toolkit, kilobytes: int
) -> None:
    """Also where its first round trip is longer than the time-out that the short path has left: what is sent again
    meanwhile tells that nothing was lost."""
    async with line(kit) as connection:
        await connection.dial()
        for _ in range(3):
            await connection.took_s(0.2)
        await connection.delay()
        assert_round_trips(kit, await connection.took_s(kilobytes), ROUND_TRIPS[kilobytes])


@pytest.mark.parametrize("kilobytes", ROUND_TRIPS)
async def test_a_message_on_a_connection_that_was_dialled_late_takes_as_many(kit: Toolkit, kilobytes: int) -> None:
    async with line(kit) as connection:
        await connection.delay()
        await connection.dial()
        assert_round_trips(kit, await connection.took_s(kilobytes), ROUND_TRIPS[kilobytes])


async def test_the_next_message_of_the_same_size_takes_one_round_trip(kit: Toolkit) -> None:
    async with line(kit) as connection:
        await connection.delay()
        await connection.dial()
        assert_round_trips(kit, await connection.took_s(40), 2)
        for _ in range(2):
            assert_round_trips(kit, await connection.took_s(40), 1)


async def test_after_a_pause_a_message_takes_the_round_trips_of_a_new_connection(kit: Toolkit) -> None:
    """The window is halved for each time-out of the pause (tcp_slow_start_after_idle), to ten segments."""
    async with line(kit) as connection:
        await connection.delay(0.1)
        await connection.dial()
        for round_trips in (2, 1):
            assert_round_trips(kit, await connection.took_s(40), round_trips, 0.2)
        await asyncio.sleep(4.0)
        assert_round_trips(kit, await connection.took_s(40), 2, 0.2)


async def test_a_connections_first_message_blocks_beyond_what_the_send_buffer_holds(kit: Toolkit) -> None:
    """46,080 bytes for ten segments (tcp_sndbuf_expand), and what still fits into the last batch."""
    kit.send_ordinary_packets()
    (_, writer), _ = await pair()
    async with kit.packets("to_broker"):
        writer.write(bytes(45_000))
        assert writer.transport.get_write_buffer_size() == 0
        writer.write(bytes(LARGE))
        await asyncio.sleep(0.05)
        assert 46_000 <= 45_000 + LARGE - writer.transport.get_write_buffer_size() <= 46_080 + BATCH
        writer.transport.abort()


async def test_the_send_buffer_grows_with_the_congestion_window(kit: Toolkit) -> None:
    async with line(kit) as connection:
        await connection.dial()
        for _ in range(3):
            await connection.took_s(200)
        async with kit.packets("to_broker"):
            connection.writer.write(bytes(LARGE))
            assert 150_000 <= LARGE - connection.writer.transport.get_write_buffer_size() <= 700_000
