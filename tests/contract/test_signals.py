"""Protects what kills, pauses and restarts of a broker's process mean to its clients, and what logs keep of them."""

import asyncio

import pytest
from talk import Talk, produce, produced, values

from harness.environments.broker_signals import RESTART_S
from harness.environments.world import World, WorldError
from harness.levers import (
    CloseListener,
    ConnectionsCut,
    FilterPackets,
    HeldBack,
    Intercept,
    PacketAction,
    RequestsUnread,
    Signal,
)

KILL, PAUSE, RESTART = (Signal(broker=1, kind=kind) for kind in ("kill", "pause", "restart"))


async def test_a_killed_broker_closes_and_refuses_until_it_is_back_with_its_log(world: World) -> None:
    talk, idle = await Talk.to(world), await Talk.to(world)
    assert produced(await talk.ask(produce(b"one"))) == (0, 0)
    async with world.pull(KILL) as killed:
        assert killed.began_ns <= killed.confirmed_ns <= world.now_ns()
        for each in (talk, idle):
            assert await each.reader.read() == b""
        for _ in range(3):
            with pytest.raises(ConnectionRefusedError):
                await Talk.to(world)
        evidence = await killed.evidence()
        assert (evidence.connections, evidence.dials) == (2, 3)
        assert produced(await (await Talk.to(world, 2)).ask(produce(b"other", partition=1))) == (0, 0)
    assert (await killed.evidence()).dials == 3
    talk = await Talk.to(world)
    assert produced(await talk.ask(produce(b"two"))) == (0, 1)
    assert await values(world) == [b"one", b"two"]


async def test_a_request_that_a_broker_had_not_read_when_it_was_killed_is_lost(world: World) -> None:
    talk = await Talk.to(world)
    async with world.pull(PAUSE), world.pull(KILL):
        talk.send(produce(b"lost"))
        with pytest.raises((EOFError, ConnectionError)):
            await talk.answer(produce(b"lost"))
    assert (await world.settle(30.0)).complete
    assert await values(world) == []


async def test_the_last_of_several_kills_brings_the_broker_back(world: World) -> None:
    async with world.pull(KILL):
        async with world.pull(KILL):
            pass
        with pytest.raises(ConnectionRefusedError):
            await Talk.to(world)
        with pytest.raises(WorldError, match="broker 1 cannot be paused: another fault has killed it"):
            async with world.pull(PAUSE):
                raise AssertionError
    await (await Talk.to(world)).ask(produce(b"back"))


async def test_a_paused_broker_accepts_and_answers_only_once_it_goes_on(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(PAUSE) as paused:
        assert (await paused.evidence()).connections == 0
        talk.send(produce(b"open connection"))
        fresh = await Talk.to(world)
        fresh.send(produce(b"new connection"))
        for each in (talk, fresh):
            with pytest.raises(TimeoutError):
                await each.answer(produce(b""), within_s=0.3)
        assert (await paused.evidence()).connections == 2
        assert await values(world) == [b"before"]
        assert produced(await (await Talk.to(world, 2)).ask(produce(b"other", partition=1))) == (0, 0)
    assert (await paused.evidence()).connections == 2
    offsets = {produced(await each.answer(produce(b"")))[1] for each in (talk, fresh)}
    assert offsets == {1, 2}


async def test_a_request_that_a_broker_has_in_its_hands_meets_its_pause(world: World) -> None:
    talk = await Talk.to(world)
    async with world.hold_request(Intercept(broker=1, answer=HeldBack(), api="produce")) as came:
        talk.send(produce(b"held"))
        await came.wait()
        async with world.pull(PAUSE) as paused:
            assert await paused.evidence() == RequestsUnread(held=1)
            assert await paused.evidence(paused.began_ns, None) == RequestsUnread(held=1)
            assert await paused.evidence(paused.began_ns + 1, None) == RequestsUnread()
    assert produced(await talk.answer(produce(b"held"))) == (0, 0)
    async with world.pull(PAUSE) as paused:
        assert await paused.evidence() == RequestsUnread()


async def test_the_end_of_an_idle_connection_is_nothing_that_a_paused_broker_leaves_unread(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(PAUSE) as paused:
        fresh = await Talk.to(world)
        for each in (talk, fresh):
            each.writer.close()
        await asyncio.sleep(0.2)
        assert (await paused.evidence()).connections == 0


async def test_what_was_sent_to_a_paused_broker_and_given_up_is_written_when_it_goes_on(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(PAUSE):
        talk.send(produce(b"zombie"))
        await asyncio.sleep(0.1)
        talk.abandon()
        assert not (await world.settle(0.5)).complete
    assert (await world.settle(30.0)).complete
    assert await values(world) == [b"before", b"zombie"]


async def test_several_pauses_end_with_the_last(world: World) -> None:
    async with world.pull(PAUSE):
        async with world.pull(PAUSE):
            pass
        talk = await Talk.to(world)
        with pytest.raises(TimeoutError):
            await talk.ask(produce(b"late"), within_s=0.3)
    assert produced(await talk.answer(produce(b""))) == (0, 0)


async def test_a_restart_ends_connections_and_keeps_the_log(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"one"))
    async with world.pull(RESTART) as restarted:
        assert await talk.reader.read() == b""
        assert (await restarted.evidence()).connections == 1
        fresh = await Talk.to(world)
        assert produced(await fresh.ask(produce(b"two"))) == (0, 1)
    assert produced(await fresh.ask(produce(b"three"))) == (0, 2)
    assert await values(world) == [b"one", b"two", b"three"]


async def test_a_restarted_broker_refuses_who_dials_again_as_soon_as_it_is_cut_off(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"one"))

    async def dial_again() -> None:
        assert await talk.reader.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await Talk.to(world)

    dialling = asyncio.create_task(dial_again())
    async with world.pull(RESTART) as restarted:
        await dialling
        assert restarted.confirmed_ns - restarted.began_ns >= RESTART_S * 1e9
        evidence = await restarted.evidence()
        assert (evidence.connections, evidence.dials) == (1, 1)
        await Talk.to(world)


async def test_a_closed_port_counts_the_connections_that_it_ended(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"one"))
    async with world.pull(CloseListener(broker=1)) as closed, world.pull(CloseListener(broker=2)) as nobody:
        assert await talk.reader.read() == b""
        assert (await closed.evidence()).connections == 1
        assert (await nobody.evidence()).connections == 0


async def test_a_reset_in_mid_request_is_counted_and_nothing_of_it_is_written(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"one"))
    lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.RESET, only="data", at_most=1)
    async with world.pull(lever) as pulled:
        with pytest.raises(ConnectionResetError):
            await talk.ask(produce(b"lost"))
        assert produced(await (await Talk.to(world)).ask(produce(b"two"))) == (0, 1)
        evidence = await pulled.evidence()
        assert evidence == ConnectionsCut(connections=1)
    assert (await world.settle(30.0)).complete
    assert await values(world) == [b"one", b"two"]


async def test_a_reset_of_the_answer_leaves_what_was_written(world: World) -> None:
    """Whoever sends it again has it twice."""
    talk = await Talk.to(world)
    lever = FilterPackets(broker=1, flow="to_client", verdict=PacketAction.RESET, only="data", at_most=1)
    async with world.pull(lever):
        with pytest.raises(ConnectionResetError):
            await talk.ask(produce(b"twice"))
        assert produced(await (await Talk.to(world)).ask(produce(b"twice"))) == (0, 1)
    assert await values(world) == [b"twice", b"twice"]
