"""Protects contexts, timers, wait groups and the order of maps: what Go profiles end their waits by."""

import asyncio
from random import Random

import pytest

from client.golang import (
    Context,
    Receive,
    Ticker,
    WaitGroup,
    after,
    background,
    first_in_map,
    in_map_order,
    select,
    sleep,
    with_cancel,
    with_deadline,
    with_timeout,
)
from client.tasks import BackgroundTasks


def test_a_deadline_ends_the_context_and_everything_derived_from_it() -> None:
    async def test() -> float:
        loop = asyncio.get_running_loop()
        started_at = loop.time()
        parent = with_timeout(background(), 0.02)
        child = with_cancel(with_deadline(parent, started_at + 60))
        assert child.deadline_at == parent.deadline_at
        chosen = await select(Random(1), done=Receive(child.done))
        assert not chosen.ok
        assert (parent.error, child.error) == ("context deadline exceeded",) * 2
        return loop.time() - started_at

    assert asyncio.run(test()) >= 0.02


def test_cancelling_a_child_leaves_the_parent_and_the_first_reason_stays() -> None:
    async def test() -> None:
        parent = with_cancel(background())
        child = with_timeout(parent, 60)
        child.cancel()
        assert child.error == "context canceled"
        assert parent.error is None
        parent.cancel()
        parent.cancel()
        late: Context = with_timeout(parent, 60)
        assert late.error == "context canceled"
        assert await late.done.receive() == (None, False)

    asyncio.run(test())


def test_a_deadline_in_the_past_is_over_at_once_and_leaving_with_cancels() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        assert with_deadline(background(), loop.time() - 1).error == "context deadline exceeded"
        with with_timeout(background(), 60) as context:
            assert context.error is None
        assert context.error == "context canceled"

    asyncio.run(test())


def test_what_is_derived_from_a_context_that_is_over_has_its_deadline() -> None:
    async def test() -> None:
        now = asyncio.get_running_loop().time()
        over = with_deadline(background(), now - 1)
        assert with_deadline(over, now + 60).deadline_at == now - 1
        assert with_deadline(over, now - 2).deadline_at == now - 2

    asyncio.run(test())


def test_sleep_of_nothing_gives_no_turn() -> None:
    async def test() -> None:
        ran: list[int] = []
        asyncio.get_running_loop().call_soon(ran.append, 1)
        await sleep(0)
        await sleep(-1)
        assert not ran

    asyncio.run(test())


def test_after_and_ticker_deliver_on_the_loops_clock_and_drop_ticks_nobody_takes() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        started_at = loop.time()
        fired_at, ok = await after(0.01).receive()
        assert ok
        assert fired_at is not None
        assert fired_at >= started_at + 0.01
        ticker = Ticker(0.01)
        await asyncio.sleep(0.055)
        assert len(ticker.channel) == 1
        ticker.stop()
        await ticker.channel.receive()
        await asyncio.sleep(0.03)
        assert len(ticker.channel) == 0

    asyncio.run(test())


def test_a_wait_group_waits_for_all_and_a_panic_is_told() -> None:
    async def test() -> None:
        panics: list[BaseException] = []
        tasks = BackgroundTasks(panics.append)
        group = WaitGroup()
        await group.wait()
        group.add(2)

        async def work() -> None:
            await asyncio.sleep(0)
            group.done()

        async def broken() -> None:
            raise ValueError("panic")

        for index in range(2):
            tasks.go(work(), f"work-{index}")
        await group.wait()
        tasks.go(broken(), "broken")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [str(p) for p in panics] == ["panic"]
        with pytest.raises(AssertionError, match="negative WaitGroup counter"):
            group.done()

    asyncio.run(test())


def test_ended_tasks_run_no_further() -> None:
    async def test() -> None:
        tasks = BackgroundTasks(lambda panic: pytest.fail(str(panic)))
        ran = []

        async def work() -> None:
            await asyncio.sleep(3600)
            ran.append(1)

        tasks.go(work(), "work")
        await asyncio.sleep(0)
        tasks.cancel_all()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not ran

    asyncio.run(test())


def test_maps_are_walked_from_a_slot_drawn_by_chance() -> None:
    entries = {1: "a", 2: "b", 3: "c"}
    rng = Random(5)
    walks = [in_map_order(rng, entries) for _ in range(8000)]
    firsts = [walk[0][1] for walk in walks]
    # Slots 0 to 2 are taken, 3 to 7 lead round to 0: 6/8, 1/8, 1/8. Standard deviation 39 and 30; five of them.
    assert abs(firsts.count("a") - 6000) < 195
    assert abs(firsts.count("b") - 1000) < 150
    assert abs(firsts.count("c") - 1000) < 150
    assert {tuple(v for _, v in walk) for walk in walks} == {tuple("abc"), tuple("bca"), tuple("cab")}
    assert first_in_map(rng, {}) is None
    many = {number: number for number in range(20)}
    assert sorted(in_map_order(Random(1), many)) == sorted(many.items())
    assert in_map_order(Random(1), many) == in_map_order(Random(1), many)
