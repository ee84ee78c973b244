"""Protects locks and map slots: who waits for whom, and whom Go's map meets first after one entry was replaced."""

import asyncio
from random import Random

import pytest
from turns import run, turns

from client.golang import GoMap, Mutex, RWMutex, in_map_order


def test_a_free_mutex_is_taken_without_giving_up_the_turn() -> None:
    async def test() -> None:
        mutex = Mutex()
        coroutine = mutex.lock()
        with pytest.raises(StopIteration):
            coroutine.send(None)
        assert mutex.locked()
        mutex.unlock()
        assert not mutex.locked()
        with pytest.raises(AssertionError, match="unlock of unlocked mutex"):
            mutex.unlock()

    run(test)


def test_who_runs_overtakes_who_waits_but_not_who_starves() -> None:
    async def test() -> None:
        mutex = Mutex()
        order = []

        async def waiter(name: str) -> None:
            async with mutex:
                order.append(name)

        await mutex.lock()
        waiting = asyncio.create_task(waiter("waiter"))
        await turns()
        mutex.unlock()
        async with mutex:  # before the waiter has had a turn
            order.append("runner")
        await waiting
        assert order == ["runner", "waiter"]

        order.clear()
        await mutex.lock()
        waiting = asyncio.create_task(waiter("starved"))
        await asyncio.sleep(0.005)
        mutex.unlock()
        await mutex.lock()  # overtaken once more
        await turns()
        mutex.unlock()  # now it is handed over
        late = asyncio.create_task(waiter("late"))
        assert mutex.locked()
        await asyncio.gather(waiting, late)
        assert order == ["starved", "late"]
        assert not mutex.locked()

    run(test)


def test_who_comes_back_at_once_takes_the_wake_up_of_who_was_woken() -> None:
    """A goroutine that unlocks, locks for another and waits itself keeps a waiter out round after round: the wake-up is
    its own each time, and the waiter never gets to see that it starves (runtime/sema.go, semacquire1). A pause ends it.
    """

    async def test() -> None:
        mutex = Mutex()
        order = []

        async def starved() -> None:
            async with mutex:
                order.append("starved")

        async def dial(released: float) -> None:
            await asyncio.sleep(released)
            mutex.unlock()

        async def insistent() -> None:
            for place in range(4):
                await mutex.lock()
                if place == 3:
                    await asyncio.sleep(0.002)
                dialling = asyncio.create_task(dial(0.005))  # unlocks, as a dial does, when it is over
                async with mutex:
                    order.append(f"round {place}")
                await dialling

        first = asyncio.create_task(insistent())
        await turns()
        second = asyncio.create_task(starved())
        await asyncio.gather(first, second)
        assert order[:3] == ["round 0", "round 1", "round 2"]
        assert sorted(order[3:]) == ["round 3", "starved"]
        assert not mutex.locked()

    run(test)


def test_many_waiters_of_a_mutex_all_get_it_once_at_a_time() -> None:
    async def test() -> None:
        mutex = Mutex()
        inside = 0
        rng = Random(3)

        async def one() -> None:
            nonlocal inside
            for _ in range(20):
                async with mutex:
                    inside += 1
                    assert inside == 1
                    await turns(rng.randrange(3))
                    inside -= 1

        await asyncio.gather(*(one() for _ in range(20)))
        assert not mutex.locked()

    run(test)


def test_readers_share_and_a_waiting_writer_keeps_new_ones_out() -> None:
    async def test() -> None:
        lock = RWMutex()
        order = []

        async def read(name: str, last: "asyncio.Future[None] | None" = None) -> None:
            async with lock.reading:
                order.append(name)
                if last is not None:
                    await last

        async def write(name: str) -> None:
            async with lock.writing:
                order.append(name)

        release: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tasks = [asyncio.create_task(read("first", release))]
        await turns()
        tasks.append(asyncio.create_task(read("second")))
        await turns()
        assert order == ["first", "second"]
        tasks += [asyncio.create_task(write("writer")), asyncio.create_task(write("next writer"))]
        await turns()
        tasks.append(asyncio.create_task(read("third")))
        await turns()
        assert order == ["first", "second"]
        release.set_result(None)
        await asyncio.gather(*tasks)
        assert order == ["first", "second", "writer", "third", "next writer"]
        await lock.wait_until_readable()

    run(test)


def test_a_turn_to_read_waits_for_the_writer() -> None:
    async def test() -> None:
        lock = RWMutex()
        async with lock.writing:
            turn = asyncio.create_task(lock.wait_until_readable())
            await turns()
            assert not turn.done()
        await turn
        async with lock.writing:
            pass

    run(test)


def test_a_map_gives_a_new_entry_the_first_free_slot() -> None:
    entries: GoMap[int, str] = GoMap()
    for number in (1, 2, 3):
        entries[number] = str(number)
    del entries[1]
    entries[4] = "4"
    assert entries.slots == (4, 2, 3, None, None, None, None, None)
    entries[2] = "two"
    assert entries.pop(9, "none") == "none"
    assert (len(entries), entries[2], 1 in entries) == (3, "two", False)
    rng = Random(5)
    firsts = [in_map_order(rng, entries)[0][0] for _ in range(8000)]
    # The free slots 3 to 7 lead round to slot 0: 6/8, 1/8, 1/8. Standard deviation 39 and 30; five of them.
    assert abs(firsts.count(4) - 6000) < 195
    assert abs(firsts.count(2) - 1000) < 150
    assert abs(firsts.count(3) - 1000) < 150


def test_a_map_with_a_gap_is_walked_over_it() -> None:
    entries: GoMap[int, int] = GoMap()
    for number in range(4):
        entries[number] = number
    del entries[0]
    walks = {tuple(key for key, _ in in_map_order(Random(seed), entries)) for seed in range(200)}
    assert walks == {(1, 2, 3), (2, 3, 1), (3, 1, 2)}


def test_a_map_that_was_large_once_stays_without_slots() -> None:
    entries: GoMap[int, int] = GoMap()
    for number in range(9):
        entries[number] = number
    assert entries.slots is None
    for number in range(7):
        del entries[number]
    assert {in_map_order(Random(seed), entries)[0][0] for seed in range(50)} == {7, 8}
