"""What any kind of cluster has to do for a world, in each environment that runs it: serve, die, come back with its
logs, stand still, change, and intercept."""

import asyncio

import pytest
from talk import TOPIC, Talk, produce, produced
from worlds import ClusterKit

from client.wire import errors
from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.metadata import MetadataRequest
from client.wire.apis.produce import PRODUCE
from harness.brokers.cluster import ClusterStateError
from harness.brokers.kind import CLUSTER_KINDS, UnknownClusterKind, cluster_kind
from harness.levers import (
    CapVersions,
    DeleteTopic,
    ErrorAnswer,
    FilterPackets,
    Intercept,
    MoveLeader,
    PacketAction,
    RemoveLeader,
    RemoveMembers,
    Signal,
    Silence,
)

METADATA = MetadataRequest(topics=None)


async def dial(cluster: ClusterKit, broker: int = 1) -> Talk:
    return Talk(*await asyncio.open_connection(*cluster.listen_address(broker)))


async def leaders(cluster: ClusterKit, broker: int) -> list[int]:
    (topic,) = (await (await dial(cluster, broker)).ask(METADATA)).topics
    return [partition.leader_id for partition in topic.partitions]


async def values(cluster: ClusterKit, partition: int = 0) -> list[bytes | None]:
    return [record.value for record in await cluster.brokers.read_log(TOPIC, partition)]


async def test_all_brokers_listen_and_agree_on_the_leaders(cluster: ClusterKit) -> None:
    for broker in (1, 2):
        assert cluster.brokers.running(broker)
        assert await leaders(cluster, broker) == [1, 2]
    view = cluster.brokers.state()
    assert view.brokers == (1, 2)
    assert view.controller in view.brokers
    assert [(partition.leader, partition.replicas) for partition in view.topics[TOPIC]] == [(1, (1, 2)), (2, (2, 1))]


async def test_a_killed_broker_is_gone_and_comes_back_with_its_log(cluster: ClusterKit) -> None:
    talk = await dial(cluster)
    assert produced(await talk.ask(produce(b"one"))) == (0, 0)
    await cluster.brokers.kill(1, election_s=9.0)
    assert not cluster.brokers.running(1)
    assert await talk.reader.read() == b""
    with pytest.raises(ConnectionRefusedError):
        await dial(cluster)
    assert await values(cluster) == [b"one"], "a log can be read while its leader is gone"
    await cluster.brokers.revive(1)
    assert cluster.brokers.running(1)
    assert await values(cluster) == [b"one"]
    assert await leaders(cluster, 1) == [2, 2], "it registers anew, so that the other replica leads"
    assert produced(await (await dial(cluster, 2)).ask(produce(b"two"))) == (0, 1)
    assert await values(cluster) == [b"one", b"two"]


async def test_others_lead_once_the_session_of_a_killed_broker_has_ended(cluster: ClusterKit) -> None:
    await cluster.brokers.kill(1, election_s=1.0)
    talk = await dial(cluster, 2)
    assert await leaders(cluster, 2) == [1, 2]
    await eventually_led(cluster, 2, [2, 2])
    assert produced(await talk.ask(produce(b"one"))) == (0, 0)
    await cluster.brokers.revive(1)
    assert await leaders(cluster, 1) == [2, 2], "who leads goes on leading"


async def test_a_broker_that_hands_over_leads_nothing_and_still_runs(cluster: ClusterKit) -> None:
    await cluster.brokers.hand_over(1)
    for broker in (1, 2):
        assert await leaders(cluster, broker) == [2, 2]
    await cluster.brokers.kill(1, election_s=0.0)
    assert await leaders(cluster, 2) == [2, 2]
    await cluster.brokers.revive(1)
    assert await leaders(cluster, 1) == [2, 2]


async def test_acknowledgements_of_all_replicas_wait_for_a_dead_follower_until_its_session_ends(
    cluster: ClusterKit,
) -> None:
    talk = await dial(cluster)
    assert produced(await talk.ask(produce(b"one", acks=-1))) == (0, 0)
    loop = asyncio.get_running_loop()
    killed_s = loop.time()
    await cluster.brokers.kill(2, election_s=0.7)
    assert produced(await talk.ask(produce(b"two", acks=-1))) == (0, 1)
    assert loop.time() - killed_s >= 0.69
    assert produced(await talk.ask(produce(b"three", acks=-1))) == (0, 2)


async def test_an_acknowledgement_that_is_not_replicated_in_time_is_an_error_and_the_record_stays(
    cluster: ClusterKit,
) -> None:
    talk = await dial(cluster)
    await cluster.brokers.kill(2, election_s=60.0)
    assert produced(await talk.ask(produce(b"one", acks=-1, timeout_ms=200)))[0] == errors.REQUEST_TIMED_OUT
    assert produced(await talk.ask(produce(b"two", acks=1))) == (0, 1)
    assert await values(cluster) == [b"one", b"two"]


async def test_a_paused_leader_that_was_replaced_leads_no_more(cluster: ClusterKit) -> None:
    talk = await dial(cluster)
    await cluster.brokers.pause(1, election_s=0.3)
    await eventually_led(cluster, 2, [2, 2])
    assert produced(await (await dial(cluster, 2)).ask(produce(b"new"))) == (0, 0)
    talk.send(produce(b"old"))
    await cluster.brokers.resume(1)
    assert produced(await talk.answer(produce(b"")))[0] == errors.NOT_LEADER_OR_FOLLOWER
    assert await values(cluster) == [b"new"]


@pytest.mark.parametrize("foreign", [False, True])
async def test_a_member_that_left_is_named_nowhere_and_comes_back(cluster: ClusterKit, foreign: bool) -> None:
    left = RemoveMembers(brokers=(1,), foreign=foreign)
    talk = await dial(cluster)
    await cluster.brokers.change(left)
    assert cluster.brokers.state().brokers == (2,)
    assert await leaders(cluster, 2) == [2, 2]
    code, _ = produced(await talk.ask(produce(b"lost")))
    assert code == (errors.UNKNOWN_TOPIC_OR_PARTITION if foreign else errors.NOT_LEADER_OR_FOLLOWER)
    await cluster.brokers.undo(left)
    assert await leaders(cluster, 1) == [1, 2]
    assert produced(await talk.ask(produce(b"back"))) == (0, 0)


async def test_changes_are_undone_in_any_order(cluster: ClusterKit) -> None:
    away, gone = MoveLeader(topic=TOPIC, partition=0, to=2), DeleteTopic(topic=TOPIC)
    before = cluster.brokers.state()
    for first, second in ((away, gone), (gone, away)):
        await cluster.brokers.change(away)
        await cluster.brokers.change(gone)
        assert TOPIC not in cluster.brokers.state().topics
        await cluster.brokers.undo(first)
        await cluster.brokers.undo(second)
        assert TOPIC in cluster.brokers.state().topics
    assert before.topics[TOPIC][1] == cluster.brokers.state().topics[TOPIC][1]


async def test_a_partition_without_a_leader_has_one_again(cluster: ClusterKit) -> None:
    none = RemoveLeader(topic=TOPIC, partition=0)
    await cluster.brokers.change(none)
    assert cluster.brokers.state().topics[TOPIC][0].leader is None
    await cluster.brokers.undo(none)
    assert await leaders(cluster, 1) == [1, 2]


async def test_a_broker_that_is_held_hears_of_no_change_until_it_is_released(cluster: ClusterKit) -> None:
    cluster.brokers.hold(1)
    await cluster.brokers.change(MoveLeader(topic=TOPIC, partition=0, to=2))
    assert await leaders(cluster, 1) == [1, 2]
    assert await leaders(cluster, 2) == [2, 2]
    assert produced(await (await dial(cluster)).ask(produce(b"fenced")))[0] == errors.NOT_LEADER_OR_FOLLOWER
    await cluster.brokers.release_state(1)
    assert await leaders(cluster, 1) == [2, 2]


async def eventually_led(cluster: ClusterKit, broker: int, wanted: list[int]) -> None:
    """Wait until a broker tells these leaders."""
    async with asyncio.timeout_at(asyncio.get_running_loop().time() + 20):
        while await leaders(cluster, broker) != wanted:
            await asyncio.sleep(0.02)


async def test_a_paused_broker_runs_and_reads_nothing_until_it_is_resumed(cluster: ClusterKit) -> None:
    talk = await dial(cluster)
    await talk.ask(produce(b"before"))
    await cluster.brokers.pause(1, election_s=9.0)
    assert cluster.brokers.running(1)
    assert await cluster.brokers.unread(1) == 0
    talk.send(produce(b"waits"))
    with pytest.raises(TimeoutError):
        await talk.answer(produce(b""), within_s=0.3)
    assert await cluster.brokers.unread(1) == 1
    assert await cluster.brokers.unread(2) == 0
    await cluster.brokers.resume(1)
    assert produced(await talk.answer(produce(b""))) == (0, 1)
    assert await cluster.brokers.unread(1) == 0


async def test_a_moved_leader_is_known_to_every_broker_and_writes_behind_the_last_one(cluster: ClusterKit) -> None:
    old = await dial(cluster, 1)
    assert produced(await old.ask(produce(b"one"))) == (0, 0)
    await cluster.brokers.change(MoveLeader(topic=TOPIC, partition=0, to=2))
    for broker in (1, 2):
        assert await leaders(cluster, broker) == [2, 2]
    assert [partition.leader for partition in cluster.brokers.state().topics[TOPIC]] == [2, 2]
    assert produced(await old.ask(produce(b"lost")))[0] == errors.NOT_LEADER_OR_FOLLOWER
    assert produced(await (await dial(cluster, 2)).ask(produce(b"two"))) == (0, 1)
    assert await values(cluster) == [b"one", b"two"]


async def test_a_killed_broker_learns_of_a_change_when_it_is_back(cluster: ClusterKit) -> None:
    await cluster.brokers.kill(1, election_s=9.0)
    await cluster.brokers.change(MoveLeader(topic=TOPIC, partition=0, to=2))
    await cluster.brokers.revive(1)
    assert await leaders(cluster, 1) == [2, 2]


async def test_a_change_that_cannot_be_is_refused_and_changes_nothing(cluster: ClusterKit) -> None:
    with pytest.raises(ClusterStateError, match=f"there is no partition {TOPIC}-9"):
        await cluster.brokers.change(MoveLeader(topic=TOPIC, partition=9, to=1))
    assert await leaders(cluster, 1) == [1, 2]


async def test_each_broker_has_versions_of_its_own_which_can_be_capped_and_restored(cluster: ClusterKit) -> None:
    async def highest_produce(broker: int) -> int | None:
        answer = await (await dial(cluster, broker)).ask(ApiVersionsRequest())
        return next((row.max_version for row in answer.api_keys if row.api_key == PRODUCE.key), None)

    uncapped = await highest_produce(1)
    assert uncapped is not None
    await cluster.brokers.change(CapVersions(broker=1, highest={"produce": uncapped - 1}))
    assert (await highest_produce(1), await highest_produce(2)) == (uncapped - 1, uncapped)
    await cluster.brokers.change(CapVersions(broker=1, highest={"produce": -1}))
    assert await highest_produce(1) is None
    with pytest.raises((EOFError, ConnectionError)):
        await (await dial(cluster, 1)).ask(produce(b"not spoken"))
    assert produced(await (await dial(cluster, 2)).ask(produce(b"other", partition=1))) == (0, 0)
    await cluster.brokers.change(CapVersions(broker=1, highest={}))
    assert await highest_produce(1) == uncapped
    assert await values(cluster) == []


async def test_requests_are_intercepted_until_released_also_by_a_broker_that_was_killed_since(
    cluster: ClusterKit,
) -> None:
    refuse = Intercept(broker=1, api="produce", answer=ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"))
    if cluster.kind.refuses(refuse):
        return
    number = await cluster.brokers.intercept(refuse)
    refused = (errors.NOT_LEADER_OR_FOLLOWER, -1)
    assert produced(await (await dial(cluster)).ask(produce(b"refused"))) == refused
    await cluster.brokers.kill(1, election_s=9.0)
    await cluster.brokers.revive(1)
    await cluster.brokers.change(MoveLeader(topic=TOPIC, partition=0, to=1))
    assert produced(await (await dial(cluster)).ask(produce(b"refused"))) == refused
    assert cluster.brokers.interceptions(number).total == 2
    await cluster.brokers.release(number)
    assert produced(await (await dial(cluster)).ask(produce(b"taken"))) == (0, 0)
    assert cluster.brokers.interceptions(number).total == 2


@pytest.mark.parametrize("name", list(CLUSTER_KINDS))
def test_a_kind_refuses_in_words_and_only_what_its_brokers_would_have_to_do(name: str) -> None:
    kind = cluster_kind(name)
    assert kind.name == name
    assert kind.refuses(FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DROP)) == ()
    assert kind.refuses(Signal(broker=1, kind="kill")) == ()
    (refusal,) = kind.refuses(Intercept(broker=1, api="sing", answer=Silence()))
    assert (refusal.name, "sing" in str(refusal)) == ("sing", True)
    assert 0 < kind.memory_bytes(1) < kind.memory_bytes(3)


def test_an_unknown_kind_is_said() -> None:
    with pytest.raises(UnknownClusterKind, match=r"there are no embeded brokers; did you mean embedded\?"):
        cluster_kind("embeded")
