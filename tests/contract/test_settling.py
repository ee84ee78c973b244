"""Protects what a log is judged by: a world settles when nothing can be written any more, and the log is read whole."""

import pytest
from slack import measured_slack
from talk import TOPIC, Talk, produce, produced, values

from harness.environments.world import World, WorldError
from harness.levers import FilterPackets, PacketAction

DARK = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)


async def test_a_quiet_world_settles_at_once_with_its_connections_open(world: World) -> None:
    slack_s = measured_slack()
    talk = await Talk.to(world)
    assert produced(await talk.ask(produce(b"one"))) == (0, 0)
    settled = await world.settle(30.0)
    assert settled.complete
    assert settled.seconds < 0.7 + slack_s()
    assert produced(await talk.ask(produce(b"two"))) == (0, 1)


async def test_a_log_is_read_back_record_by_record(world: World) -> None:
    for broker, value in ((1, b"one"), (2, b"other"), (1, b"two")):
        await (await Talk.to(world, broker)).ask(produce(value, partition=broker - 1))
    log = await world.read_log(TOPIC, 0)
    assert [(record.offset, record.key, record.value) for record in log] == [(0, b"k", b"one"), (1, b"k", b"two")]
    assert await values(world, 1) == [b"other"]


async def test_an_unwritten_partition_is_empty_and_an_unknown_one_is_refused(world: World) -> None:
    assert await world.read_log(TOPIC, 1) == ()
    for topic, partition in ((TOPIC, 2), (TOPIC, -1), ("others", 0)):
        with pytest.raises(WorldError, match=f"there is no partition {topic}-{partition}"):
            await world.read_log(topic, partition)


async def test_a_request_whose_connection_was_closed_in_the_dark_is_written_before_the_world_has_settled(
    world: World,
) -> None:
    """The zombie: its error was returned, its log is empty at healing, and it is in the log once the world settled."""
    slack_s = measured_slack()
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(DARK):
        talk.send(produce(b"zombie"))
        talk.abandon()
        still_dark = await world.settle(1.0)
        assert not still_dark.complete
        assert still_dark.seconds >= 1.0
    assert await values(world) == [b"before"]
    settled = await world.settle(30.0)
    assert settled.complete
    assert settled.seconds < 3.7 + slack_s()
    assert await values(world) == [b"before", b"zombie"]


async def test_an_open_connection_that_still_has_to_send_again_is_waited_for(world: World) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(DARK):
        talk.send(produce(b"late"))
        assert not (await world.settle(0.5)).complete
    assert (await world.settle(30.0)).complete
    assert await values(world) == [b"before", b"late"]
