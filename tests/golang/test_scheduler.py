"""Protects the order in which woken goroutines run: that of Go's processors, seeded, and each woken once."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from turns import run, turns

from client.golang import Channel, Mutex, Receive, select, sleep
from client.golang.scheduler import current_scheduler, start_scheduler
from client.tasks import BackgroundTasks

SEEDS = 300


def orders(race: Callable[[list[str]], Awaitable[None]]) -> list[list[str]]:
    """What `race` notes, seed by seed."""

    async def one(seed: int) -> list[str]:
        start_scheduler(seed)
        noted: list[str] = []
        await race(noted)
        return noted

    async def each() -> list[list[str]]:
        return [await asyncio.create_task(one(seed)) for seed in range(SEEDS)]

    return asyncio.run(each())


async def wake_two(noted: list[str]) -> None:
    first: Channel[None] = Channel()
    second: Channel[None] = Channel()

    async def receiver(name: str, channel: Channel[None]) -> None:
        await channel.receive()
        noted.append(name)

    tasks = [asyncio.create_task(receiver("first", first)), asyncio.create_task(receiver("second", second))]
    await turns()
    await first.send(None)
    await second.send(None)
    await asyncio.gather(*tasks)


async def unlock_and_wake(noted: list[str]) -> None:
    """A goroutine unlocks a mutex for a waiter, and wakes by way of another one a third that locks it as well."""
    mutex, begin, passed_on = Mutex(), Channel[None](), Channel[None]()

    async def waiter() -> None:
        async with mutex:
            noted.append("waiter")

    async def pass_on() -> None:
        await begin.receive()
        await passed_on.send(None)

    async def newcomer() -> None:
        await passed_on.receive()
        async with mutex:
            noted.append("newcomer")

    await mutex.lock()
    tasks = [asyncio.create_task(one()) for one in (waiter, pass_on, newcomer)]
    await turns()
    mutex.unlock()
    await begin.send(None)
    await asyncio.gather(*tasks)


def test_a_chain_of_wake_ups_overtakes_who_was_woken_before_it() -> None:
    found = orders(unlock_and_wake)
    overtaken = found.count(["newcomer", "waiter"])
    assert SEEDS / 2 < overtaken < SEEDS


async def start_two(noted: list[str]) -> None:
    tasks = BackgroundTasks(start=current_scheduler().start)
    ended: Channel[None] = Channel()

    async def work(name: str) -> None:
        noted.append(name)
        await ended.send(None)

    tasks.go(work("first"), "first")
    tasks.go(work("second"), "second")
    for _ in range(2):
        await ended.receive()


@pytest.mark.parametrize("race", [wake_two, start_two])
def test_the_last_runs_first_unless_the_other_is_stolen(race: Callable[[list[str]], Awaitable[None]]) -> None:
    found = orders(race)
    last_first = found.count(["second", "first"])
    assert SEEDS / 2 < last_first < SEEDS
    assert last_first + found.count(["first", "second"]) == SEEDS
    assert orders(race) == found


def test_of_those_that_wait_for_a_close_the_first_runs_first_and_then_the_last() -> None:
    """closechan puts them on a stack and wakes from its top: the one that is woken last runs next."""

    async def close_for_three(noted: list[str]) -> None:
        done = Channel[None]()

        async def wait(name: str) -> None:
            await done.receive()
            noted.append(name)

        tasks = [asyncio.create_task(wait(name)) for name in ("first", "second", "third")]
        await turns()
        done.close()
        await asyncio.gather(*tasks)

    assert orders(close_for_three).count(["first", "third", "second"]) > SEEDS * 0.7


def test_a_sleep_that_ends_waits_for_a_chain_of_wake_ups() -> None:
    async def two_sleeps(noted: list[str]) -> None:
        """Each wakes a goroutine, which notes it, after a sleep; both sleeps end in the same turn of the loop."""

        async def wake_another(name: str) -> None:
            asked: Channel[None] = Channel()
            answering = asyncio.create_task(answer(name, asked))
            await sleep(0.0001)
            noted.append(name)
            await asked.send(None)
            await answering

        async def answer(name: str, asked: Channel[None]) -> None:
            await asked.receive()
            noted.append(name)

        tasks = [asyncio.create_task(wake_another(name)) for name in ("first", "second")]
        await turns()
        time.sleep(0.001)
        await asyncio.gather(*tasks)

    found = orders(two_sleeps)
    one_by_one = sum(noted[0] == noted[1] for noted in found)
    assert SEEDS / 2 < one_by_one < SEEDS


def two_that_sleep(durations_s: tuple[float, float], *, apart: bool) -> Callable[[list[str]], Awaitable[None]]:
    """Two goroutines fall asleep in one chain of wake-ups or, `apart`, the second when all had come to rest."""

    async def race(noted: list[str]) -> None:
        tasks = BackgroundTasks(start=current_scheduler().start)
        ended: Channel[None] = Channel(2)
        names = iter(("first", "second"))
        durations = iter(durations_s)

        async def fall_asleep() -> None:
            name = next(names)
            await sleep(next(durations))
            noted.append(name)
            await ended.send(None)

        for number in range(2):
            tasks.go(fall_asleep(), f"sleeper {number}")
            if apart:
                await turns()
        time.sleep(0.001)
        for _ in range(2):
            await ended.receive()

    return race


def test_of_two_sleeps_begun_together_either_ends_first() -> None:
    """As in Go, where it depends on the machine: bench/goroutine_sleeps.go."""
    found = orders(two_that_sleep((0.0005, 0.0005), apart=False))
    later_first = found.count(["second", "first"])
    assert SEEDS * 0.3 < later_first < SEEDS * 0.6
    assert later_first + found.count(["first", "second"]) == SEEDS


@pytest.mark.parametrize(("durations_s", "apart"), [((0.0005, 0.0005), True), ((0.0005, 0.0008), False)])
def test_of_two_sleeps_begun_apart_or_ending_apart_the_first_one_ends_first(
    durations_s: tuple[float, float], apart: bool
) -> None:
    assert orders(two_that_sleep(durations_s, apart=apart)).count(["first", "second"]) > SEEDS * 0.7


def test_a_sleep_that_is_cancelled_ends_once() -> None:
    async def test() -> None:
        start_scheduler(1)
        asleep = asyncio.create_task(sleep(0.001))
        await turns()
        asleep.cancel()
        await asyncio.sleep(0.005)
        assert asleep.cancelled()

    run(test)


def test_who_was_cancelled_before_it_began_never_begins() -> None:
    async def test() -> None:
        tasks = BackgroundTasks(start=start_scheduler(1).start)
        ran: list[str] = []

        async def work() -> None:
            ran.append("work")

        tasks.go(work(), "work")
        tasks.cancel_all()
        await turns()
        assert not ran

    run(test)


def test_who_was_woken_and_has_not_run_is_not_woken_again() -> None:
    async def test() -> None:
        start_scheduler(1)
        one: Channel[int] = Channel()
        other: Channel[int] = Channel()
        chosen = asyncio.create_task(select(Random(1), one=Receive(one), other=Receive(other)))
        await turns()
        assert one.try_send(1)
        assert not other.try_send(2)
        assert not one.can_send()
        assert await chosen == ("one", 1, True)

    run(test)


def test_a_task_may_be_cancelled_between_its_wake_up_and_its_turn() -> None:
    async def test() -> None:
        start_scheduler(1)
        channel: Channel[int] = Channel()
        cancelled, next_one = (asyncio.create_task(channel.receive()) for _ in range(2))
        await turns()
        assert channel.try_send(1)
        cancelled.cancel()
        assert channel.try_send(2)
        assert await next_one == (2, True)
        await asyncio.wait((cancelled,))
        assert cancelled.cancelled()

    run(test)
