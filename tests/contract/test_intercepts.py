"""Protects requests that brokers do not answer as ever: silence, delay, errors, which requests, and what is counted."""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import Any, Literal

import pytest
from slack import measured_slack
from talk import TOPIC, Talk, produce, produced, values

from client.wire import errors
from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic
from harness.environments.world import ActiveLever, World
from harness.levers import DelayedResponse, ErrorAnswer, Intercept, InterceptResponse, Signal, Silence

METADATA = MetadataRequest(topics=(MetadataRequestTopic(name=TOPIC),))


def intercept(answer: InterceptResponse, **more: Any) -> Intercept:
    return Intercept(broker=1, answer=answer, **more)


async def counted(pulled: ActiveLever) -> int:
    return int((await pulled.evidence()).amount)


async def test_silence_answers_nothing_writes_nothing_and_never_ends_on_its_connection(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(intercept(Silence())) as silent:
        with pytest.raises(TimeoutError):
            await talk.ask(produce(b"unheard"), within_s=0.3)
        other = await Talk.to(world)
        with pytest.raises(TimeoutError):
            await other.ask(METADATA, within_s=0.3)
        assert await counted(silent) == 2
        assert produced(await (await Talk.to(world, 2)).ask(produce(b"other", partition=1))) == (0, 0)
    assert await counted(silent) == 2
    with pytest.raises(TimeoutError):
        await talk.ask(METADATA, within_s=0.3)
    assert produced(await (await Talk.to(world)).ask(produce(b"after"))) == (0, 1)
    assert await values(world) == [b"before", b"after"]


async def test_silence_of_one_api_leaves_the_others(world: World) -> None:
    async with world.pull(intercept(Silence(), api="produce")) as silent:
        talk = await Talk.to(world)
        assert (await talk.ask(METADATA)).topics[0].error_code == 0
        with pytest.raises(TimeoutError):
            await talk.ask(produce(b"unheard"), within_s=0.3)
        with pytest.raises(TimeoutError):
            await talk.ask(METADATA, within_s=0.3)
        assert await counted(silent) == 1


async def test_a_client_that_gives_up_on_silence_frees_the_connection(world: World) -> None:
    async with world.pull(intercept(Silence())):
        talk = await Talk.to(world)
        talk.send(METADATA)
        await asyncio.sleep(0.1)
        talk.abandon()
        assert (await world.settle(10.0)).complete


async def test_a_delayed_answer_is_done_at_once_and_comes_late(world: World) -> None:
    slack_s = measured_slack()
    talk = await Talk.to(world)
    loop = asyncio.get_running_loop()
    async with world.pull(intercept(DelayedResponse(seconds=0.5), api="produce")) as slow:
        began_s = loop.time()
        talk.send(produce(b"slow"))
        await asyncio.sleep(0.2)
        assert await values(world) == [b"slow"]
        assert produced(await talk.answer(produce(b""))) == (0, 0)
        assert 0.49 <= loop.time() - began_s < 0.6 + slack_s()
        began_s = loop.time()
        await talk.ask(METADATA)
        assert loop.time() - began_s < 0.1 + slack_s()
        assert await counted(slow) == 1


async def test_what_is_behind_a_delayed_request_waits_and_healing_lets_all_of_it_go(world: World) -> None:
    talk = await Talk.to(world)
    async with world.pull(intercept(DelayedResponse(seconds=60.0), api="produce")):
        talk.send(produce(b"slow"))
        talk.send(METADATA)
        with pytest.raises(TimeoutError):
            await talk.answer(produce(b""), within_s=0.3)
    assert produced(await talk.answer(produce(b""))) == (0, 0)
    assert (await talk.answer(METADATA)).topics[0].name == TOPIC


async def test_an_error_answer_names_the_error_and_does_nothing(world: World) -> None:
    talk = await Talk.to(world)
    refusing = intercept(ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="produce")
    async with world.pull(refusing) as refused:
        assert produced(await talk.ask(produce(b"no")))[0] == errors.NOT_LEADER_OR_FOLLOWER
        assert (await talk.ask(METADATA)).topics[0].error_code == 0
        assert await counted(refused) == 1
    assert produced(await talk.ask(produce(b"yes"))) == (0, 0)
    assert await values(world) == [b"yes"]


async def test_every_api_has_its_place_for_an_error(world: World) -> None:
    talk = await Talk.to(world)
    async with world.pull(intercept(ErrorAnswer(error="LEADER_NOT_AVAILABLE"))) as refused:
        answer = await talk.ask(METADATA)
        assert [topic.error_code for topic in answer.topics] == [errors.LEADER_NOT_AVAILABLE]
        assert [broker.node_id for broker in answer.brokers] == [1, 2]
        assert (await talk.ask(ApiVersionsRequest())).error_code == errors.LEADER_NOT_AVAILABLE
        assert produced(await talk.ask(produce(b"no")))[0] == errors.LEADER_NOT_AVAILABLE
        assert await counted(refused) == 3


async def test_only_the_nth_request_is_intercepted(world: World) -> None:
    talk = await Talk.to(world)
    second = intercept(ErrorAnswer(error="REQUEST_TIMED_OUT"), api="produce", nth=2)
    async with world.pull(second) as refused:
        codes = []
        for number in range(4):
            await talk.ask(METADATA)
            codes.append(produced(await talk.ask(produce(b"%d" % number)))[0])
        assert codes == [0, errors.REQUEST_TIMED_OUT, 0, 0]
        assert await counted(refused) == 1
    assert await values(world) == [b"0", b"2", b"3"]


async def test_several_intercepts_are_undone_one_by_one(world: World) -> None:
    talk = await Talk.to(world)
    async with world.pull(intercept(ErrorAnswer(error="REQUEST_TIMED_OUT"), api="produce")) as outer:
        async with world.pull(intercept(ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="metadata")) as inner:
            assert produced(await talk.ask(produce(b"")))[0] == errors.REQUEST_TIMED_OUT
            assert (await talk.ask(METADATA)).topics[0].error_code == errors.NOT_LEADER_OR_FOLLOWER
        assert (await talk.ask(METADATA)).topics[0].error_code == 0
        assert produced(await talk.ask(produce(b"")))[0] == errors.REQUEST_TIMED_OUT
        assert (await counted(outer), await counted(inner)) == (2, 1)


async def test_a_restarted_broker_goes_on_intercepting(world: World) -> None:
    refusing = intercept(ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="produce")
    async with world.pull(refusing) as refused:
        for _ in range(2):
            talk = await Talk.to(world)
            assert produced(await talk.ask(produce(b"no")))[0] == errors.NOT_LEADER_OR_FOLLOWER
            async with world.pull(Signal(broker=1, kind="restart")):
                pass
        assert await counted(refused) == 2
    assert produced(await (await Talk.to(world)).ask(produce(b"yes"))) == (0, 0)


@pytest.mark.parametrize("choice", [{"nth": 2}, {"chance": 0.5, "seed": "7"}])
async def test_the_choice_among_requests_goes_on_where_it_was_when_the_broker_is_restarted(
    world: World, choice: dict[str, Any]
) -> None:
    async def refused(restarts: bool) -> list[bool]:
        async with world.pull(intercept(ErrorAnswer(error="REQUEST_TIMED_OUT"), api="produce", **choice)):
            found = []
            for _ in range(6):
                error, _ = produced(await (await Talk.to(world)).ask(produce(b"x")))
                found.append(error == errors.REQUEST_TIMED_OUT)
                if restarts:
                    async with world.pull(Signal(broker=1, kind="kill")):
                        pass
            return found

    undisturbed = await refused(restarts=False)
    assert 0 < sum(undisturbed) < 6
    assert await refused(restarts=True) == undisturbed


@pytest.mark.parametrize("kind", ["kill", "pause"])
async def test_a_broker_that_goes_away_while_it_is_told_is_told_when_it_is_back(
    world: World, kind: Literal["kill", "pause"]
) -> None:
    """A fault of its answers may begin or be healed at the very moment at which another fault kills or pauses it."""

    async def later(work: Awaitable[object], delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        await work

    for number in range(20):
        silent, refusing, gone = AsyncExitStack(), AsyncExitStack(), AsyncExitStack()
        await silent.enter_async_context(world.pull(intercept(Silence(), api="produce")))
        refused = world.pull(intercept(ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="produce"))
        await asyncio.gather(
            gone.enter_async_context(world.pull(Signal(broker=1, kind=kind))),
            later(silent.aclose(), number * 0.0005),
            later(refusing.enter_async_context(refused), number * 0.0005),
        )
        await gone.aclose()
        assert produced(await (await Talk.to(world)).ask(produce(b"no")))[0] == errors.NOT_LEADER_OR_FOLLOWER
        await refusing.aclose()
        assert produced(await (await Talk.to(world)).ask(produce(b"yes")))[0] == 0
