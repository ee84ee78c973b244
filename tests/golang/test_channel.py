"""Protects the channels: every rule of the Go specification that a profile's timing rests on."""

import asyncio
from random import Random

import pytest
from turns import run, turns

from client.golang import Channel, ClosedChannelError, Receive, Send, select, select_or_default


def test_an_unbuffered_send_waits_for_its_receiver() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel()
        sender = asyncio.create_task(channel.send(1))
        await turns()
        assert not sender.done()
        assert await channel.receive() == (1, True)
        await sender

    run(test)


def test_a_send_to_a_parked_receiver_does_not_give_up_the_turn() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel()
        receiver = asyncio.create_task(channel.receive())
        await turns()
        channel.send(7).close()  # not started: nothing may have happened
        coroutine = channel.send(7)
        with pytest.raises(StopIteration):
            coroutine.send(None)
        assert await receiver == (7, True)

    run(test)


def test_a_buffered_channel_takes_its_capacity_and_keeps_order() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel(2)
        await channel.send(1)
        await channel.send(2)
        third = asyncio.create_task(channel.send(3))
        await turns()
        assert not third.done()
        assert len(channel) == 2
        assert [(await channel.receive())[0] for _ in range(3)] == [1, 2, 3]
        await third

    run(test)


def test_closing_lets_buffered_values_out_then_zero_values() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel(2)
        await channel.send(1)
        channel.close()
        assert await channel.receive() == (1, True)
        assert await channel.receive() == (None, False)
        assert await channel.receive() == (None, False)

    run(test)


def test_closing_wakes_parked_receivers_and_panics_parked_senders() -> None:
    async def test() -> None:
        empty: Channel[int] = Channel()
        receivers = [asyncio.create_task(empty.receive()) for _ in range(2)]
        await turns()
        empty.close()
        assert [await r for r in receivers] == [(None, False)] * 2
        unread: Channel[int] = Channel()
        sender = asyncio.create_task(unread.send(1))
        await turns()
        unread.close()
        with pytest.raises(ClosedChannelError, match="send on closed channel"):
            await sender

    run(test)


def test_send_on_closed_and_close_of_closed_panic() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel(1)
        channel.close()
        with pytest.raises(ClosedChannelError, match="send on closed channel"):
            await channel.send(1)
        with pytest.raises(ClosedChannelError, match="close of closed channel"):
            channel.close()
        with pytest.raises(ClosedChannelError, match="send on closed channel"):
            await select(Random(1), out=Send(channel, 1))

    run(test)


def test_range_ends_when_the_channel_is_closed_and_empty() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel(1)

        async def produce() -> None:
            for value in range(5):
                await channel.send(value)
            channel.close()

        producer = asyncio.create_task(produce())
        assert [value async for value in channel] == [0, 1, 2, 3, 4]
        await producer

    run(test)


def test_receivers_are_served_in_order_of_arrival() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel()
        receivers = [asyncio.create_task(channel.receive()) for _ in range(4)]
        await turns()
        for value in range(4):
            await channel.send(value)
        assert [(await r)[0] for r in receivers] == [0, 1, 2, 3]

    run(test)


def test_a_cancelled_receiver_takes_no_value_with_it() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel()
        lost, kept = (asyncio.create_task(channel.receive()) for _ in range(2))
        await turns()
        lost.cancel()
        await turns()
        await channel.send(1)
        assert await kept == (1, True)

    run(test)


def test_a_cancelled_sender_sends_nothing() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel()
        cancelled = asyncio.create_task(channel.send(1))
        await turns()
        cancelled.cancel()
        await turns()
        assert not channel.can_receive()
        assert select_or_default(Random(1), never=Receive(channel)) is None

    run(test)


def test_select_waits_for_the_first_case_that_can_proceed_and_leaves_no_trace_in_the_others() -> None:
    async def test() -> None:
        first: Channel[int] = Channel()
        second: Channel[int] = Channel()
        chosen = asyncio.create_task(select(Random(1), first=Receive(first), second=Receive(second)))
        await turns()
        await second.send(2)
        assert await chosen == ("second", 2, True)
        assert not first.can_send()  # nobody waits there any more
        assert not second.can_send()

    run(test)


def test_select_sends_when_a_receiver_comes() -> None:
    async def test() -> None:
        out: Channel[str] = Channel()
        never: Channel[str] = Channel()
        chosen = asyncio.create_task(select(Random(1), never=Receive(never), out=Send(out, "x")))
        await turns()
        assert await out.receive() == ("x", True)
        assert await chosen == ("out", None, True)

    run(test)


def test_a_nil_channel_never_proceeds_and_default_does_at_once() -> None:
    async def test() -> None:
        assert select_or_default(Random(1), receive=Receive(None), send=Send(None, 1)) is None
        ready: Channel[int] = Channel(1)
        assert await select(Random(1), never=Receive(None), ready=Send(ready, 5)) == ("ready", None, True)
        for_ever = asyncio.create_task(select(Random(1), never=Receive(None)))
        await turns()
        assert not for_ever.done()
        for_ever.cancel()

    run(test)


def test_a_closed_channel_is_always_ready() -> None:
    async def test() -> None:
        closed: Channel[int] = Channel()
        closed.close()
        assert await select(Random(1), never=Receive(None), closed=Receive(closed)) == ("closed", None, False)

    run(test)


def test_two_selects_meet_each_other_once() -> None:
    async def test() -> None:
        channel: Channel[int] = Channel()
        other: Channel[int] = Channel()
        receiving = asyncio.create_task(select(Random(1), other=Receive(other), channel=Receive(channel)))
        await turns()
        assert await select(Random(1), channel=Send(channel, 9), other=Receive(other)) == ("channel", None, True)
        assert await receiving == ("channel", 9, True)

    run(test)


def test_choice_among_ready_cases_is_uniform_and_seeded() -> None:
    def choices(seed: int) -> list[str]:
        rng = Random(seed)
        found = []
        for _ in range(3000):
            channels: dict[str, Channel[int]] = {name: Channel(1) for name in "abc"}
            for channel in channels.values():
                channel.try_send(0)
            chosen = select_or_default(rng, **{name: Receive(channel) for name, channel in channels.items()})
            assert chosen is not None
            found.append(chosen.case)
        return found

    first = choices(1)
    assert first == choices(1)
    assert first != choices(2)
    # Binomial(3000, 1/3): standard deviation 26; five of them either way.
    assert all(abs(first.count(name) - 1000) < 130 for name in "abc")


def test_a_busy_case_does_not_starve_another() -> None:
    async def test() -> None:
        rng = Random(3)
        busy: Channel[int] = Channel(1)
        rare: Channel[int] = Channel(1)
        busy.try_send(0)
        rare.try_send(0)
        for _ in range(100):
            if (await select(rng, busy=Receive(busy), rare=Receive(rare))).case == "rare":
                return
            busy.try_send(0)
        pytest.fail("the rare case was never chosen in 100 rounds (chance 2**-100)")

    run(test)
