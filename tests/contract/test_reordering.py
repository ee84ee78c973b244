"""Protects how long a message takes on a path where packets overtake one another, on simulated sockets as on real ones.

A packet that is late is taken for lost as soon as three others have come in its place (RACK), and halves the window.
Where another gap was filled before it arrives, its timestamp is too old, and the kernel refuses it (PAWS, RFC 7323): so
it has to come once more. A sender without these takes about four delays for such a message, a real one ten and more."""

import asyncio
from contextlib import AsyncExitStack
from statistics import median

from toolkit import ADDRESS, Toolkit, now_s, serve, since

from harness.levers import FLOWS, Delays, PacketAction

DELAY_S = 0.05
SIZE = 100 * 1024
CHANCE = 0.5
LEAST, MOST = 7, 25
"""Delays that it takes."""


async def took_s(kit: Toolkit, seed: int) -> float:
    """How long it takes until a message over a connection that knew a short path is answered."""
    served = await serve(limit=2**15)
    reader, writer = await asyncio.open_connection(*ADDRESS)
    far_reader, far_writer = await served.peer()
    served.close()

    async def answered(size: int) -> None:
        writer.write(bytes(size))
        left = size
        while left:
            left -= len(await far_reader.read(left))
        far_writer.write(b"!")
        await reader.readexactly(1)

    try:
        await answered(200)
        async with AsyncExitStack() as late:
            for flow in FLOWS:
                rule = {"delays": Delays(seconds=(DELAY_S,)), "chance": CHANCE, "seed": f"{flow}/{seed}"}
                await late.enter_async_context(kit.packets(flow, verdict=PacketAction.DELAY, **rule))
            began_s = now_s()
            await answered(SIZE)
            return since(began_s)
    finally:
        writer.transport.abort()
        far_writer.transport.abort()


async def test_packets_that_are_overtaken_cost_a_message_many_times_their_delay(kit: Toolkit) -> None:
    kit.send_ordinary_packets()
    typical_s = median([await took_s(kit, seed) for seed in range(7)])
    assert LEAST * DELAY_S <= typical_s <= MOST * DELAY_S + kit.slack_s
