"""Protects drops of some packets: of SYNs alone, of data alone, and by chance, on simulated sockets as on real ones."""

import asyncio

import pytest
from toolkit import ADDRESS, NOBODY, Toolkit, data_retransmissions_s, next_after, now_s, pair, serve, since

DIALS = 100


async def test_without_data_dials_succeed_and_nothing_comes_through(kit: Toolkit) -> None:
    served = await serve()
    async with kit.packets("to_broker", only="data") as rule:
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _ = await served.peer()
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(1.0)
        assert await rule.packets() >= 2
    healed_at_s = since(sent_s)
    assert await far_reader.readexactly(7) == b"request"
    earliest_s, latest_s = next_after(data_retransmissions_s(), 1.0, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s
    served.close()


async def test_without_syns_connections_live_on_and_dials_hang(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    served = await serve()
    async with kit.packets("to_broker", only="syn") as rule:
        began_s = now_s()
        dialling = asyncio.create_task(asyncio.open_connection(*ADDRESS))
        writer.write(b"request")
        assert await far_reader.readexactly(7) == b"request"
        await asyncio.sleep(0.5)
        assert not dialling.done()
        assert await rule.packets() == 1
    await dialling
    assert 1.0 <= since(began_s) <= 1.04 + kit.slack_s
    served.close()


@pytest.mark.parametrize("chance", [0.2, 0.8])
async def test_by_chance_each_packet_is_drawn_for_by_itself(kit: Toolkit, chance: float) -> None:
    """Of 100 SYNs so many vanish, five standard deviations more or less; the kernel sends those again."""
    served = await serve(backlog=DIALS)
    async with kit.packets("to_broker", only="syn", chance=chance, seed="7/lossy/1") as rule:
        dials = [asyncio.create_task(asyncio.open_connection(*ADDRESS)) for _ in range(DIALS)]
        await asyncio.sleep(0.5)
        dropped = await rule.packets()
        spread = 5 * (DIALS * chance * (1 - chance)) ** 0.5
        assert abs(dropped - DIALS * chance) <= spread
        assert sum(dial.done() for dial in dials) == DIALS - dropped
    for _, writer in await asyncio.gather(*dials):
        writer.transport.abort()
    served.close()


async def test_other_links_lose_nothing(kit: Toolkit) -> None:
    async with kit.packets("to_broker") as rule:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*NOBODY)
        assert await rule.packets() == 0
