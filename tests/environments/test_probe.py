"""Protects the proof of a delay from a busy machine: a moment in which every answer is late hides no delay."""

import asyncio
import struct
from itertools import chain, repeat
from math import inf

from harness.environments.probe import DelayProbe

ANSWER = struct.pack(">iihihhh", 16, 1, 0, 1, 18, 0, 0)
"""ApiVersions version 0: length, correlation id, no error, one API (18, versions 0 to 0)."""
BUSY_S = 0.05


async def before_and_after(fast_enough_s: float, *, late: int) -> tuple[float, int]:
    """The delay that is seen where none is, and how many probes were sent, with so many late answers at first."""
    lateness = chain([BUSY_S] * late, repeat(0.0))
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        (length,) = struct.unpack(">i", await reader.readexactly(4))
        await reader.readexactly(length)
        await asyncio.sleep(next(lateness))
        writer.write(ANSWER)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        probe = DelayProbe(server.sockets[0].getsockname()[:2], limit_s=5, fast_enough_s=fast_enough_s)
        await probe.measure_before()
        probe.start_measuring_after()
        delay_s = await probe.delay_s()
    assert delay_s is not None
    return delay_s, asked


def test_a_moment_in_which_all_probes_are_late_hides_no_delay() -> None:
    delay_s, asked = asyncio.run(before_and_after(BUSY_S / 2, late=3))
    assert delay_s > -BUSY_S / 2
    assert asked >= 7


def test_where_nothing_is_known_of_the_way_probes_are_sent_once() -> None:
    _, asked = asyncio.run(before_and_after(inf, late=3))
    assert asked == 4


def test_a_way_that_is_slow_is_not_probed_for_ever() -> None:
    _, asked = asyncio.run(before_and_after(BUSY_S / 2, late=10_000))
    assert asked <= 3 * 6 + 1
