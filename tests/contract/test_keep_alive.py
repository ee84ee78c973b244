"""Protects keep-alives: the kernel ends an idle connection whose peer has gone dark, in the simulation when Linux does,
and leaves one alone whose peer answers."""

import asyncio

import pytest
from toolkit import ADDRESS, Toolkit, now_s, serve, since

from client.net.errors import Cause, NetError
from client.net.tcp import KeepAlive, connect

QUICK = KeepAlive(idle_s=0.5, interval_s=1.0, probes=2)
"""A part of a second counts as a whole one: probes after 1 s and 2 s, and the end after 3 s."""


async def test_a_dark_peer_ends_an_idle_connection_after_the_last_probe(kit: Toolkit) -> None:
    served = await serve()
    stream = await connect(*ADDRESS, deadline_at=None, keep_alive=QUICK)
    _, far = await served.peer()
    connected_s = now_s()
    async with kit.packets("to_broker") as dropped:
        with pytest.raises(NetError) as ended:
            await stream.read_full(1)
        assert ended.value.cause is Cause.TIMED_OUT_BY_KERNEL
        # The kernel's timer wheel is late by up to an eighth of each wait, and by a jiffy.
        assert 2.9 <= since(connected_s) <= 3.5 + kit.slack_s
        assert await dropped.packets() >= 2
    far.close()
    served.close()


async def test_a_peer_that_answers_keeps_it_open(kit: Toolkit) -> None:
    served = await serve()
    stream = await connect(*ADDRESS, deadline_at=None, keep_alive=QUICK)
    _, writer = await served.peer()
    reading = asyncio.create_task(stream.read_full(2))
    await asyncio.sleep(4.0)
    writer.write(b"ok")
    assert await reading == b"ok"
    writer.close()
    served.close()
