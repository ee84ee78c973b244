"""Protects the cluster's state: what a shape becomes, how it travels, and that impossible ones are refused in words."""

import json

import pytest

from client.wire.api import apis
from harness.brokers.cluster import ClusterStateError
from harness.brokers.embedded.cluster import ClusterState, decode_state, encode_state
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.handlers import handlers
from harness.levers import AddMembers, CapVersions, MoveLeader, RemoveMembers
from harness.plan import ClusterShape, Topic


def controller(*topics: Topic, brokers: int = 3) -> Controller:
    shape = ClusterShape(brokers=brokers, topics=topics)
    return Controller(shape, lambda b: (f"127.0.2.{b}", 9092))


def test_a_shape_becomes_a_state_and_survives_the_channel() -> None:
    state = controller(Topic(name="orders", partitions=3, replication=2, leaders=(3, 1, 2)), Topic(name="one")).state
    assert [(p.leader, p.replicas) for p in state.topics[0].partitions] == [(3, (3, 1)), (1, (1, 2)), (2, (2, 3))]
    assert [(b.broker_id, b.host, b.port) for b in state.brokers] == [(b, f"127.0.2.{b}", 9092) for b in (1, 2, 3)]
    assert state.topics[1].partitions[0].leader == 1
    line = encode_state(state)
    assert "\n" not in line
    assert decode_state(line) == state


def test_one_leader_for_all_partitions() -> None:
    state = controller(Topic(name="t", partitions=3, leaders=(2,))).state
    assert [p.leader for p in state.topics[0].partitions] == [2, 2, 2]


def test_moving_a_leader_makes_the_next_epoch_and_pushes_it() -> None:
    one = controller(Topic(name="t", partitions=2, replication=3, leaders=(1, 2)), Topic(name="u"))
    seen: list[ClusterState] = []
    one.attach(seen.append)
    one.change(MoveLeader(topic="t", partition=1, to=3))
    assert [s.epoch for s in seen] == [1, 2]
    moved = seen[1].topics[0].partitions
    assert [(p.leader, p.leader_epoch) for p in moved] == [(1, 0), (3, 1)]
    assert seen[1].topics[1] == seen[0].topics[1]
    one.detach(seen.append)
    one.change(MoveLeader(topic="t", partition=1, to=1))
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        (
            Topic(name="../etc"),
            r"topic name '\.\./etc' is not legal: 1 to 249 of a-z A-Z 0-9 \. _ - and not \. or \.\.",
        ),
        (Topic(name=".."), "is not legal"),
        (Topic(name="a/b"), "is not legal"),
        (Topic(name="line\n"), "is not legal"),
        (Topic(name="x" * 250), "is not legal"),
        (Topic(name="t", leaders=(9,)), "topic t is led by broker 9, which does not exist"),
        (Topic(name="t", replication=4), "topic t has replication 4 on 3 brokers"),
        (Topic(name="t", partitions=3, leaders=(1, 2)), "topic t has 3 partitions and 2 leaders"),
    ],
)
def test_impossible_topics(topic: Topic, text: str) -> None:
    with pytest.raises(ClusterStateError, match=text):
        controller(topic)


def test_impossible_moves() -> None:
    one = controller(Topic(name="t", replication=2))
    with pytest.raises(ClusterStateError, match="there is no partition t-4"):
        one.change(MoveLeader(topic="t", partition=4, to=1))
    with pytest.raises(ClusterStateError, match=r"broker 3 is no replica of t-0: \(1, 2\)"):
        one.change(MoveLeader(topic="t", partition=0, to=3))


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '{"epoch":"x"}', "null"])
def test_garbage_is_no_state(line: str) -> None:
    with pytest.raises(ClusterStateError, match="no cluster state"):
        decode_state(line)


def test_a_state_with_a_dangerous_topic_is_refused_on_arrival_too() -> None:
    raw = json.loads(encode_state(controller(Topic(name="t")).state))
    raw["topics"][0]["name"] = "../../t"
    with pytest.raises(ClusterStateError, match="not legal"):
        decode_state(json.dumps(raw))


def test_capped_versions_are_those_of_one_broker_and_never_more_than_it_spoke() -> None:
    one = controller(Topic(name="t"), brokers=2)
    one.change(CapVersions(broker=2, highest={"produce": 7, "fetch": 999, "init_producer_id": -1}))
    first, second = one.state.brokers
    assert first.api_versions is None
    spoken = {apis()[key].module: (low, high) for key, low, high in second.api_versions or ()}
    everything = {handler.api.module: (handler.versions[0], handler.versions[-1]) for handler in handlers().values()}
    assert spoken["produce"] == (everything["produce"][0], 7)
    assert spoken["fetch"] == everything["fetch"]
    assert set(everything) - set(spoken) == {"init_producer_id"}
    assert decode_state(encode_state(one.state)) == one.state
    one.change(CapVersions(broker=2, highest={}))
    assert one.state.brokers[1].api_versions is None


def test_a_state_without_api_versions_is_one_of_a_broker_that_speaks_all() -> None:
    state = controller(Topic(name="t")).state
    raw = json.loads(encode_state(state))
    for broker in raw["brokers"]:
        del broker["api_versions"]
    assert decode_state(json.dumps(raw)) == state


def test_undoing_that_would_leave_a_cluster_without_brokers() -> None:
    one = controller(Topic(name="t"))
    joined = AddMembers(brokers=(2, 3))
    one.change(RemoveMembers(brokers=(2, 3)))
    one.change(joined)
    one.change(RemoveMembers(brokers=(1,)))
    with pytest.raises(ClusterStateError, match="cannot lose all its brokers"):
        one.undo(joined)


def test_impossible_caps() -> None:
    one = controller(Topic(name="t"))
    with pytest.raises(ClusterStateError, match="there is no API sing: brokers know api_versions, create_topics"):
        one.change(CapVersions(broker=1, highest={"sing": 1}))
    with pytest.raises(ClusterStateError, match="there is no broker 9"):
        one.change(CapVersions(broker=9, highest={"fetch": 1}))
