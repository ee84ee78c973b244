"""Protects the meaning of dials on both worlds: who connects, who is refused, who hangs, and when it ends."""

import asyncio

import pytest
from toolkit import (
    ADDRESS,
    NOBODY,
    Toolkit,
    data_retransmissions_s,
    next_after,
    now_s,
    pair,
    serve,
    since,
    syn_retransmissions_s,
)

from harness.levers import Flow, PacketAction


async def test_a_dial_connects_and_bytes_go_both_ways(kit: Toolkit) -> None:
    (reader, writer), (far_reader, far_writer) = await pair()
    writer.write(b"question")
    assert await far_reader.readexactly(8) == b"question"
    far_writer.write(b"answer")
    assert await reader.readexactly(6) == b"answer"
    assert writer.get_extra_info("peername") == ADDRESS
    assert far_writer.get_extra_info("peername") == writer.get_extra_info("sockname")


async def test_a_port_without_listener_refuses_at_once(kit: Toolkit) -> None:
    began_s = now_s()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*NOBODY)
    assert since(began_s) < 0.05 + kit.slack_s


async def test_a_closed_listener_refuses(kit: Toolkit) -> None:
    served = await serve()
    served.close()
    await asyncio.sleep(0.01)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*ADDRESS)


async def test_an_address_is_bound_once(kit: Toolkit) -> None:
    await serve()
    with pytest.raises(OSError, match="address already in use"):
        await serve()


async def test_a_refusing_rule_looks_like_no_listener(kit: Toolkit) -> None:
    await serve()
    async with kit.packets("to_broker", verdict=PacketAction.REFUSE) as rule:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*ADDRESS)
        assert await rule.packets() == 1
    await asyncio.open_connection(*ADDRESS)


async def test_a_dial_into_the_dark_ends_at_its_deadline(kit: Toolkit) -> None:
    """And it leaves nothing behind: nobody is accepted once the link is healed."""
    served = await serve()
    async with kit.packets("to_broker", only="syn") as rule:
        began_s = now_s()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(began_s + 1.5):
                await asyncio.open_connection(*ADDRESS)
        assert 1.5 <= since(began_s) < 1.5 + kit.slack_s
        assert await rule.packets() == 2
    with pytest.raises(TimeoutError):
        async with asyncio.timeout_at(now_s() + 1.5):
            await served.peer()


async def test_a_cancelled_dial_is_over_at_once(kit: Toolkit) -> None:
    await serve()
    async with kit.packets("to_broker", only="syn"):
        dial = asyncio.create_task(asyncio.open_connection(*ADDRESS))
        await asyncio.sleep(0.2)
        began_s = now_s()
        dial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dial
        assert since(began_s) < kit.slack_s


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
@pytest.mark.parametrize("healed_s", [0.5, 2.5])
async def test_a_dark_dial_completes_at_the_next_syn_after_healing(kit: Toolkit, flow: Flow, healed_s: float) -> None:
    await serve()
    began_s = now_s()
    async with kit.packets(flow):
        dial = asyncio.create_task(asyncio.open_connection(*ADDRESS))
        await asyncio.sleep(healed_s)
        assert not dial.done()
    healed_at_s = since(began_s)
    await dial
    earliest_s, latest_s = next_after(syn_retransmissions_s(), healed_s, healed_at_s)
    assert earliest_s <= since(began_s) <= latest_s + kit.slack_s


async def test_dropping_syns_spares_open_connections(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker", only="syn") as rule:
        writer.write(b"still here")
        assert await far_reader.readexactly(10) == b"still here"
        assert await rule.packets() == 0


async def test_dropping_data_spares_dials(kit: Toolkit) -> None:
    served = await serve()
    async with kit.packets("to_broker", only="data") as rule:
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _ = await served.peer()
        sent_s = now_s()
        writer.write(b"late")
        await asyncio.sleep(0.3)
        assert await rule.packets() >= 1
    healed_at_s = since(sent_s)
    assert await far_reader.readexactly(4) == b"late"
    assert since(sent_s) <= next_after(data_retransmissions_s(), 0.3, healed_at_s)[1] + kit.slack_s


async def test_the_accept_queue_holds_one_more_than_its_backlog(kit: Toolkit) -> None:
    """The kernel connects those by itself; the next SYN is dropped, so that dial hangs."""
    async with kit.listening(backlog=1):
        async with asyncio.timeout_at(now_s() + 0.9):
            await asyncio.open_connection(*ADDRESS)
            await asyncio.open_connection(*ADDRESS)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(now_s() + 0.9):
                await asyncio.open_connection(*ADDRESS)


async def test_closing_a_listener_resets_those_that_nobody_accepted(kit: Toolkit) -> None:
    async with kit.listening(backlog=1):
        reader, _ = await asyncio.open_connection(*ADDRESS)
    with pytest.raises(ConnectionResetError):
        await reader.read(1)
