"""Protects evidence of an interval: what met the client's traffic then, and nothing of the lab's own probes."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest
from talk import REPLICATED, TOPIC, Talk, produce

from client.wire.apis.metadata import MetadataRequest
from harness.environments.linux.addresses import PROBES
from harness.environments.probe import ProbeFailed, round_trip_s
from harness.environments.world import ActiveLever, World
from harness.levers import (
    ChangeCluster,
    CloseListener,
    ConnectionsCut,
    DeleteTopic,
    DialsRefused,
    ErrorAnswer,
    FilterPackets,
    Flow,
    HoldState,
    Intercept,
    Lever,
    PacketAction,
    RemoveLeader,
    RequestsIntercepted,
    RequestsUnread,
    Signal,
    Silence,
    Toxic,
)

PAUSE_S = 0.3
"""Longer than what was sent is under way, and than counters are sampled."""


def drop(**more: Any) -> FilterPackets:
    return FilterPackets(broker=1, verdict=PacketAction.DROP, **{"flow": "to_broker", **more})


async def amount(pulled: ActiveLever, since_ns: int | None, until_ns: int | None) -> float:
    return (await pulled.evidence(since_ns, until_ns)).amount


async def a_while(world: World) -> int:
    """The end of an interval, and the beginning of another one."""
    await asyncio.sleep(PAUSE_S)
    now_ns = world.now_ns()
    await asyncio.sleep(PAUSE_S)
    return now_ns


async def refused_dial(world: World) -> None:
    with pytest.raises(ConnectionRefusedError):
        await Talk.to(world)


@pytest.mark.parametrize(
    "more", [{}, {"hook": "sender"}, {"only": "data"}, {"flow": "to_client"}, {"chance": 0.999999}]
)
async def test_dropped_packets_are_known_by_their_time(world: World, more: dict[str, Any]) -> None:
    talk = await Talk.to(world)
    await asyncio.sleep(PAUSE_S)
    async with world.pull(drop(**more)) as dropping:
        quiet_ns = await a_while(world)
        talk.send(produce(b"lost"))
        busy_ns = await a_while(world)
        assert await amount(dropping, None, quiet_ns) == 0
        during = await amount(dropping, quiet_ns, busy_ns)
        assert 1 <= during <= await amount(dropping, quiet_ns, None) <= await amount(dropping, None, None)
    assert await amount(dropping, quiet_ns, busy_ns) == during
    talk.abandon()


@pytest.mark.parametrize(
    "lever",
    [FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.REFUSE), CloseListener(broker=1)],
)
async def test_refused_dials_are_known_by_their_time(world: World, lever: Lever) -> None:
    async with world.pull(lever) as refusing:
        await refused_dial(world)
        await refused_dial(world)
        first_ns = await a_while(world)
        await refused_dial(world)
        assert await refusing.evidence(None, first_ns) == DialsRefused(dials=2)
        assert await refusing.evidence(first_ns, world.now_ns()) == DialsRefused(dials=1)
        assert await refusing.evidence() == DialsRefused(dials=3)
    assert await refusing.evidence(first_ns, None) == DialsRefused(dials=1)


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


async def test_resets_are_known_by_their_time_and_end_with_the_last_one_allowed(world: World) -> None:
    lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.RESET, only="data", at_most=1)
    talk = await Talk.to(world)
    async with world.pull(lever) as resetting:
        with pytest.raises(ConnectionResetError):
            await talk.ask(produce(b"lost"))
        reset_ns = await a_while(world)
        await (await Talk.to(world)).ask(produce(b"passes"))
        assert await resetting.evidence(None, reset_ns) == ConnectionsCut(connections=1)
        assert await resetting.evidence(reset_ns, None) == ConnectionsCut()


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


async def test_intercepted_requests_are_known_by_their_time(world: World) -> None:
    refusing = Intercept(broker=1, answer=ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="produce")
    talk = await Talk.to(world)
    async with world.pull(refusing) as refused:
        await talk.ask(produce(b"no"))
        await talk.ask(produce(b"no"))
        first_ns = await a_while(world)
        await talk.ask(produce(b"no"))
        assert await refused.evidence(None, first_ns) == RequestsIntercepted(requests=2)
        assert await refused.evidence(first_ns, None) == RequestsIntercepted(requests=1)


def toxic(kind: str, flow: Flow = "to_broker", **attributes: int) -> Toxic:
    return Toxic(broker=1, flow=flow, kind=kind, attributes=tuple(attributes.items()))


async def probed(world: World) -> None:
    with suppress(ProbeFailed):
        await round_trip_s(world.advertised_address(1), limit_s=PAUSE_S, source=PROBES)


@pytest.mark.parametrize(
    "lever", [drop(), drop(hook="sender"), CloseListener(broker=1), Intercept(broker=1, answer=Silence())]
)
async def test_the_labs_own_probes_are_no_traffic_of_the_client(world: World, lever: Lever) -> None:
    async with world.pull(lever) as meeting:
        await probed(world)
        await asyncio.sleep(PAUSE_S)
        assert await amount(meeting, None, None) >= 1
        assert await amount(meeting, meeting.began_ns, None) == 0


TOXICS = (
    (toxic("latency", latency=100), 0.1),
    (toxic("latency", "to_client", latency=100, jitter=20), 0.08),
    (toxic("bandwidth", rate=1), 0.05),
    (toxic("bandwidth", "to_client", rate=1), 0.02),
    (toxic("slicer", average_size=20, delay=1_000), 3.0),
    (toxic("slicer", "to_client", average_size=20), 1.0),
    (toxic("timeout", timeout=0), 100.0),
    (toxic("timeout", "to_client", timeout=0), 30.0),
    (toxic("timeout", timeout=100), 100.0),
    (toxic("limit_data", bytes=10), 1.0),
    (toxic("limit_data", "to_client", bytes=10), 1.0),
    (toxic("reset_peer", timeout=50), 1.0),
    (toxic("reset_peer", "to_client", timeout=50), 1.0),
)
"""With the least that is seen of each where a client sends one message of a hundred bytes and waits for the answer."""


@pytest.mark.parametrize(("lever", "least"), TOXICS, ids=lambda value: getattr(value, "kind", ""))
async def test_a_toxic_is_seen_in_what_it_does_to_the_client_and_when(world: World, lever: Toxic, least: float) -> None:
    talk = await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(lever) as meeting:
        await probed(world)
        assert await amount(meeting, None, None) == 0, "the lab's own probe"
        quiet_ns = await a_while(world)
        if talk.reader.at_eof():  # an idle connection, ended by a timeout
            talk = await Talk.to(world)
        with suppress(TimeoutError, OSError, EOFError):
            await talk.ask(produce(bytes(100)), within_s=1.0)
        busy_ns = await a_while(world)
        seen = await amount(meeting, quiet_ns, busy_ns)
        assert least <= seen + 1e-6
        assert seen >= lever.enough
        assert await amount(meeting, None, quiet_ns) == 0
        assert await amount(meeting, busy_ns, None) == 0
        assert await amount(meeting, None, None) == seen
    assert await amount(meeting, quiet_ns, busy_ns) == seen
    talk.abandon()


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_bytes_that_are_held_when_a_delay_is_removed_are_proof_of_it(world: World, flow: Flow) -> None:
    talk = await Talk.to(world)
    lever = toxic("latency", flow, latency=10_000)
    async with world.pull(lever) as meeting:
        quiet_ns = await a_while(world)
        talk.send(produce(b"held"))
        busy_ns = await a_while(world)
        assert await amount(meeting, None, None) >= lever.enough
        assert await amount(meeting, None, quiet_ns) == 0
    assert len(await talk.reader.read(1)) == 1, "it is released when the delay is removed"
    assert await amount(meeting, quiet_ns, busy_ns) >= lever.enough
    assert await amount(meeting, busy_ns, None) == 0
    talk.abandon()


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_a_connection_that_ends_while_a_reset_is_removed_is_proof_of_it(world: World, flow: Flow) -> None:
    """The removal waits for it: the client loses its connection, or what it sent, all the same."""
    lever = toxic("reset_peer", flow, timeout=1_000)
    assert lever.acts_while_undone
    talk = await Talk.to(world)
    async with world.pull(lever) as meeting:
        quiet_ns = await a_while(world)
        talk.send(produce(b"lost"))
        await a_while(world)
        assert await amount(meeting, None, None) == 0
    assert await amount(meeting, quiet_ns, None) == 1
    assert await amount(meeting, None, quiet_ns) == 0
    talk.abandon()


@pytest.mark.parametrize("lever", [lever for lever, _ in TOXICS[::2]], ids=lambda lever: lever.kind)
async def test_a_toxic_that_spares_every_connection_is_never_seen(world: World, lever: Toxic) -> None:
    async with world.pull(replace(lever, toxicity=0.0)) as meeting:
        talk = await Talk.to(world)
        await talk.ask(produce(bytes(100)))
        talk.abandon()
        await asyncio.sleep(PAUSE_S)
        assert await amount(meeting, None, None) < lever.enough


async def test_the_end_of_a_connection_is_seen_to_come_late(world: World) -> None:
    talk, other = await Talk.to(world), await Talk.to(world)
    await talk.ask(produce(b"before"))
    async with world.pull(toxic("slow_close", delay=200)) as meeting:
        other.send(produce(b"meanwhile"))
        quiet_ns = await a_while(world)
        assert await amount(meeting, None, None) == 0
        talk.abandon()
        await a_while(world)
        assert 0.2 - 1e-3 <= await amount(meeting, quiet_ns, None) <= 0.2 + PAUSE_S
    other.abandon()


async def test_what_ends_connections_elsewhere_is_no_proof_of_a_toxic(world: World) -> None:
    spared = [toxic("timeout", timeout=60_000), toxic("reset_peer", timeout=5_000)]
    levers = [toxic("limit_data", bytes=1_000_000), *(replace(lever, toxicity=0.0) for lever in spared)]
    talk = await Talk.to(world)
    async with AsyncExitStack() as stack:
        pulled = [await stack.enter_async_context(world.pull(lever)) for lever in levers]
        await talk.ask(produce(b"passes"))
        for lever in (Signal(broker=1, kind="kill"), CloseListener(broker=1)):
            async with world.pull(lever):
                with suppress(ConnectionError):
                    assert await talk.reader.read() == b""
                await refused_dial(world)
            talk = await Talk.to(world)
            await talk.ask(produce(b"again"))
        assert [await amount(one, None, None) for one in pulled] == [0, 0, 0]
        talk.abandon()


async def test_a_packet_is_counted_once_under_two_rules(world: World) -> None:
    """The first rule has it, the second one sees nothing."""
    async with world.pull(drop()) as first, world.pull(drop()) as second:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(PAUSE_S):
                await Talk.to(world)
        assert await amount(first, first.began_ns, None) >= 1
        assert await amount(second, first.began_ns, None) == 0
