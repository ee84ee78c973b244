"""Protects evidence of an interval for what befalls brokers and their cluster: what met the client's traffic then."""

import asyncio
from typing import Any

import pytest
from intervals import PAUSE_S, a_while, amount, refused_dial
from talk import REPLICATED, TOPIC, Talk, produce

from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.metadata import MetadataRequest
from harness.environments.world import World
from harness.levers import (
    CapVersions,
    ChangeCluster,
    ConnectionsCut,
    DeleteTopic,
    HoldState,
    RemoveLeader,
    RequestsUnread,
    Signal,
)


@pytest.mark.parametrize("kind", ["kill", "restart"])
async def test_connections_are_cut_at_the_moment_at_which_a_process_ends(world: World, kind: Any) -> None:
    talk = await Talk.to(world)
    before_ns = await a_while(world)
    async with world.pull(Signal(broker=1, kind=kind)) as ended:
        after_ns = await a_while(world)
        assert await talk.reader.read() == b""
        assert await ended.evidence(None, before_ns) == ConnectionsCut()
        assert await ended.evidence(before_ns, after_ns) == ConnectionsCut(connections=1)
        if kind == "kill":
            await refused_dial(world)
            assert await ended.evidence(after_ns, None) == ConnectionsCut(dials=1)
        else:
            assert await ended.evidence(after_ns, None) == ConnectionsCut()


async def test_metadata_of_the_others_tells_of_a_killed_broker_once_its_session_has_ended(world: World) -> None:
    """What a client learns then decides where it sends, even if it never uses the dead broker's address."""
    other = await Talk.to(world, 2)
    metadata = MetadataRequest(topics=None)
    async with world.pull(Signal(broker=1, kind="kill", election_s=3 * PAUSE_S)) as killed:
        await other.ask(metadata)
        before_ns = await a_while(world)
        await asyncio.sleep(2 * PAUSE_S)
        assert await killed.evidence() == ConnectionsCut()
        await other.ask(metadata)
        assert await killed.evidence() == ConnectionsCut(requests=1)
        assert await killed.evidence(None, before_ns) == ConnectionsCut()


@pytest.mark.parametrize("kind", ["kill", "restart"])
async def test_messages_that_another_takes_over_from_a_broker_that_hands_over_are_proof(
    world: World, kind: Any
) -> None:
    """A client that takes that other for the leader anyway needs no metadata to meet the change."""
    other = await Talk.to(world, 2)
    async with world.pull(Signal(broker=1, kind=kind, election_s=0.0)) as ended:
        await other.ask(produce(b"its own", partition=1))
        assert (await ended.evidence()).amount == 0
        quiet_ns = await a_while(world)
        await other.ask(produce(b"taken over", topic=REPLICATED))
        assert await ended.evidence(quiet_ns, None) == ConnectionsCut(requests=1)
        assert await ended.evidence(None, quiet_ns) == ConnectionsCut()


async def test_versions_that_are_refused_or_named_are_known_by_their_time(world: World) -> None:
    metadata = MetadataRequest(topics=None)
    talk, refused = await Talk.to(world), await Talk.to(world)
    async with world.pull(ChangeCluster(change=CapVersions(broker=1, highest={"metadata": 1}))) as capped:
        await talk.ask(metadata)
        spoken_ns = await a_while(world)
        await talk.ask(ApiVersionsRequest())
        named_ns = await a_while(world)
        refused.send(metadata, version=2)
        assert await refused.reader.read() == b""
        assert await amount(capped, None, spoken_ns) == 0
        assert await amount(capped, spoken_ns, named_ns) == 1
        assert await amount(capped, named_ns, None) == 1
    await talk.ask(ApiVersionsRequest())
    assert await amount(capped, None, None) == 2


async def test_a_broker_that_hears_of_no_more_changes_has_missed_none_that_came_before(world: World) -> None:
    talk = await Talk.to(world)
    async with (
        world.pull(ChangeCluster(change=RemoveLeader(topic=TOPIC, partition=1))),
        world.pull(HoldState(broker=1)) as held,
    ):
        await talk.ask(MetadataRequest(topics=None))
        assert await amount(held, None, None) == 0


async def test_metadata_of_the_others_tells_of_a_restarted_broker_that_leads_no_more(world: World) -> None:
    """It registers anew, so that others lead what it led: a client that was not cut off learns of it as well."""
    other = await Talk.to(world, 2)
    metadata = MetadataRequest(topics=None)
    before_ns = await a_while(world)
    async with world.pull(Signal(broker=1, kind="restart")) as restarted:
        assert await restarted.evidence() == ConnectionsCut()
        await other.ask(metadata)
        assert await restarted.evidence() == ConnectionsCut(requests=1)
        await (await Talk.to(world)).ask(metadata)
        assert await restarted.evidence() == ConnectionsCut(requests=2), "it says so itself, too"
        assert await restarted.evidence(None, before_ns) == ConnectionsCut()


async def test_whom_a_killed_broker_cuts_off_finds_the_new_leader_where_nothing_delays_the_election(
    world: World,
) -> None:
    talk, other = await Talk.to(world), await Talk.to(world, 2)

    async def asked_when_cut_off() -> int:
        assert await talk.reader.read() == b""
        (topic,) = [one for one in (await other.ask(MetadataRequest(topics=None))).topics if one.name == REPLICATED]
        return topic.partitions[0].leader_id

    asking = asyncio.ensure_future(asked_when_cut_off())
    async with world.pull(Signal(broker=1, kind="kill", election_s=0.0)):
        assert await asking == 2


async def test_a_killed_broker_without_replicas_is_told_of_by_no_metadata(world: World) -> None:
    """Nobody takes over from it: what the others say of another change is no effect of the kill."""
    other = await Talk.to(world, 2)
    async with (
        world.pull(ChangeCluster(change=DeleteTopic(topic=REPLICATED))),
        world.pull(Signal(broker=1, kind="kill", election_s=0.0)) as killed,
        world.pull(ChangeCluster(change=RemoveLeader(topic=TOPIC, partition=1))) as changed,
    ):
        await other.ask(MetadataRequest(topics=None))
        assert await amount(changed, None, None) == 1
        assert await killed.evidence() == ConnectionsCut()


@pytest.mark.parametrize("kind", ["kill", "pause"])
async def test_acknowledgements_that_wait_for_a_lost_follower_are_its_effect(world: World, kind: Any) -> None:
    """The client may never have spoken with the follower's broker."""
    talk = await Talk.to(world)
    async with world.pull(Signal(broker=2, kind=kind, election_s=3 * PAUSE_S)) as lost:
        await talk.ask(produce(b"one", topic=REPLICATED, acks=1))
        await talk.ask(produce(b"two"))
        quiet_ns = await a_while(world)
        await talk.ask(produce(b"three", topic=REPLICATED))
        assert await amount(lost, None, None) == 1
        assert await amount(lost, None, quiet_ns) == 0
        assert await amount(lost, quiet_ns, None) == 1


async def test_connections_with_unread_requests_are_known_by_the_time_of_the_requests(world: World) -> None:
    talk, other = await Talk.to(world), await Talk.to(world)
    async with world.pull(Signal(broker=1, kind="pause")) as paused:
        quiet_ns = await a_while(world)
        talk.send(produce(b"one"))
        talk.send(produce(b"two"))
        one_ns = await a_while(world)
        other.send(produce(b"three"))
        await a_while(world)
        assert await paused.evidence(None, quiet_ns) == RequestsUnread()
        assert await paused.evidence(quiet_ns, one_ns) == RequestsUnread(connections=1)
        assert await paused.evidence(quiet_ns, None) == RequestsUnread(connections=2)


@pytest.mark.parametrize("kind", ["kill", "restart"])
async def test_a_pause_that_another_signal_ends_is_proven_by_what_it_left_unread_until_then(
    world: World, kind: Any
) -> None:
    """What comes later meets the other signal: a broker that runs again, or none."""
    talk, idle = await Talk.to(world), await Talk.to(world)
    await idle.ask(produce(b"before"))
    async with world.pull(Signal(broker=1, kind="pause")) as paused:
        talk.send(produce(b"unread"))
        unread_ns = await a_while(world)
        async with world.pull(Signal(broker=1, kind=kind)):
            assert await paused.evidence() == RequestsUnread(connections=1)
        await (await Talk.to(world)).ask(produce(b"later"))
        await a_while(world)
        assert await paused.evidence() == RequestsUnread(connections=1)
        assert await paused.evidence(None, unread_ns) == RequestsUnread(connections=1)
        assert await paused.evidence(unread_ns, None) == RequestsUnread()
    assert await paused.evidence() == RequestsUnread(connections=1)


async def test_what_met_a_pause_before_a_kill_is_kept_apart_from_what_meets_the_kill(world: World) -> None:
    """The cluster has given the broker up once, and both faults were pulled on it."""
    other = await Talk.to(world, 2)
    async with world.pull(Signal(broker=1, kind="pause", election_s=0.0)) as paused:
        await other.ask(MetadataRequest(topics=None))
        await a_while(world)
        async with world.pull(Signal(broker=1, kind="kill")):
            await other.ask(MetadataRequest(topics=None))
            assert await paused.evidence() == RequestsUnread(requests=1)
    assert await paused.evidence() == RequestsUnread(requests=1)
