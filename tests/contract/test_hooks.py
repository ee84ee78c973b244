"""Protects what a drop does where a segment is sent, as `iptables -A OUTPUT -j DROP` makes it, and what a reset in
mid-request does: on simulated sockets as on real ones."""

import asyncio

import pytest
from toolkit import (
    ADDRESS,
    Toolkit,
    data_retransmissions_s,
    next_after,
    now_s,
    pair,
    persist_probes_s,
    serve,
    since,
    syn_retransmissions_s,
)

from harness.levers import Flow, PacketAction


@pytest.mark.parametrize("healed_s", [0.4, 1.0, 2.0])
async def test_what_was_refused_on_its_way_out_is_tried_again_by_the_persist_timer(
    kit: Toolkit, healed_s: float
) -> None:
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker", hook="sender") as rule:
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(healed_s)
        assert await rule.packets() >= 2
    healed_at_s = since(sent_s)
    assert await far_reader.readexactly(7) == b"request"
    earliest_s, latest_s = next_after(persist_probes_s(), healed_s, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


@pytest.mark.parametrize(
    ("healed_s", "arrives_s"), [(0.5, (0.60, 0.66)), (1.0, (1.02, 1.12)), (2.0, (2.24, 2.36)), (4.0, (4.7, 5.0))]
)
async def test_a_peer_that_is_heard_of_makes_the_sender_try_at_once(
    kit: Toolkit, healed_s: float, arrives_s: tuple[float, float]
) -> None:
    """The peer's own bytes are not acknowledged either, so it sends them again, at 0.2, 0.4, 0.8, 1.7, 3.3 s: each time
    the sender tries, and its persist timer begins anew with 0.2, 0.4, 0.8 s. Measured on Linux 6.18: 0.61, 1.04, 2.30,
    4.81 s for a request whose predecessor's answer was not acknowledged yet; a drop where it arrives gives 0.83, 1.68,
    3.33, 6.72 s."""
    (reader, writer), (far_reader, far_writer) = await pair()
    async with kit.packets("to_broker", hook="sender"):
        sent_s = now_s()
        far_writer.write(b"not acknowledged")
        await reader.readexactly(16)
        writer.write(b"request")
        await asyncio.sleep(healed_s)
    assert await far_reader.readexactly(7) == b"request"
    assert arrives_s[0] <= since(sent_s) <= arrives_s[1] + kit.slack_s


async def dialogue() -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
    """Who asks next, and who is asked, where questions were answered three times: the last answer just now."""
    (reader, writer), (far_reader, far_writer) = await pair()
    for _ in range(3):
        writer.write(b"question")
        await far_reader.readexactly(8)
        far_writer.write(b"answer")
        await reader.readexactly(6)
    return writer, far_reader


@pytest.mark.parametrize(("healed_s", "arrives_s"), [(0.25, (0.38, 0.44)), (0.7, (0.79, 0.87))])
async def test_an_answer_that_came_just_before_is_not_acknowledged_yet(
    kit: Toolkit, healed_s: float, arrives_s: tuple[float, float]
) -> None:
    """In a dialogue the kernel delays acknowledgements by 40 ms, to send them with the next request. So the peer sends
    its last answer again, at 0.2, 0.4 and 0.8 s, and each time the sender tries; its persist timer alone would at 0.6
    and 1.4 s."""
    writer, far_reader = await dialogue()
    async with kit.packets("to_broker", hook="sender"):
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(healed_s)
    assert await far_reader.readexactly(7) == b"request"
    assert arrives_s[0] <= since(sent_s) <= arrives_s[1] + kit.slack_s


async def test_an_answer_that_came_earlier_was_acknowledged(kit: Toolkit) -> None:
    writer, far_reader = await dialogue()
    await asyncio.sleep(0.1)
    async with kit.packets("to_broker", hook="sender"):
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(0.25)
    healed_at_s = since(sent_s)
    assert await far_reader.readexactly(7) == b"request"
    earliest_s, latest_s = next_after(persist_probes_s(), 0.25, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


async def test_a_close_behind_a_refused_request_delivers_both_once_healed(kit: Toolkit) -> None:
    (_, writer), (far_reader, _) = await pair()
    sent_s = now_s()
    async with kit.packets("to_broker", hook="sender"):
        writer.write(b"zombie")
        writer.transport.abort()
        await asyncio.sleep(1.0)
    healed_at_s = since(sent_s)
    assert await far_reader.read() == b"zombie"
    earliest_s, latest_s = next_after(persist_probes_s(), 1.0, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


async def test_what_is_under_way_when_the_way_out_closes_is_sent_again_as_ever(kit: Toolkit) -> None:
    """Its first segment was sent and lost on the way; that it cannot be sent again changes nothing of the rhythm."""
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker") as lost:
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(0.05)
        assert await lost.packets() == 1
        async with kit.packets("to_broker", hook="sender"):
            await asyncio.sleep(0.95)
    healed_at_s = since(sent_s)
    assert await far_reader.readexactly(7) == b"request"
    earliest_s, latest_s = next_after(data_retransmissions_s(), 1.0, healed_at_s)
    assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_a_dial_hangs_as_it_does_in_the_dark(kit: Toolkit, flow: Flow) -> None:
    await serve()
    began_s = now_s()
    async with kit.packets(flow, hook="sender") as rule:
        dial = asyncio.create_task(asyncio.open_connection(*ADDRESS))
        await asyncio.sleep(1.5)
        assert not dial.done()
        assert await rule.packets() >= 2
    healed_at_s = since(began_s)
    await dial
    earliest_s, latest_s = next_after(syn_retransmissions_s(), 1.5, healed_at_s)
    assert earliest_s <= since(began_s) <= latest_s + kit.slack_s


@pytest.mark.parametrize("size", [1, 100, 200_000])
async def test_a_reset_of_a_request_is_heard_at_both_ends_and_nothing_of_it_arrives(kit: Toolkit, size: int) -> None:
    (reader, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker", only="data", verdict=PacketAction.RESET) as rule:
        began_s = now_s()
        writer.write(bytes(size))
        for end in (reader, far_reader):
            with pytest.raises(ConnectionResetError):
                await end.read()
        assert since(began_s) < 0.1 + kit.slack_s
        assert await rule.packets() >= 1


async def test_a_reset_of_an_answer_is_heard_at_both_ends_after_the_request_has_come(kit: Toolkit) -> None:
    (reader, writer), (far_reader, far_writer) = await pair()
    async with kit.packets("to_client", only="data", verdict=PacketAction.RESET) as rule:
        writer.write(b"request")
        assert await far_reader.readexactly(7) == b"request"
        began_s = now_s()
        far_writer.write(b"answer")
        for end in (reader, far_reader):
            with pytest.raises(ConnectionResetError):
                await end.read()
        assert since(began_s) < 0.1 + kit.slack_s
        assert await rule.packets() == 1


async def test_resets_spare_dials_and_stop_after_as_many_as_were_asked_for(kit: Toolkit) -> None:
    served = await serve()
    async with kit.packets("to_broker", only="data", verdict=PacketAction.RESET, at_most=2) as rule:
        for _ in range(2):
            reader, writer = await asyncio.open_connection(*ADDRESS)
            far_reader, _ = await served.peer()
            writer.write(b"lost")
            for end in (reader, far_reader):
                with pytest.raises(ConnectionResetError):
                    await end.read()
        _, writer = await asyncio.open_connection(*ADDRESS)
        far_reader, _ = await served.peer()
        writer.write(b"third")
        assert await far_reader.readexactly(5) == b"third"
        assert await rule.packets() == 2


async def test_at_most_so_many_packets_are_dropped(kit: Toolkit) -> None:
    """The first transmission and the first probe; what is sent then arrives."""
    (_, writer), (far_reader, _) = await pair()
    async with kit.packets("to_broker", only="data", at_most=2) as rule:
        sent_s = now_s()
        writer.write(b"request")
        assert await far_reader.readexactly(7) == b"request"
        earliest_s, latest_s = data_retransmissions_s()[1]
        assert earliest_s <= since(sent_s) <= latest_s + kit.slack_s
        assert await rule.packets() == 2
