"""One contract for every subject: a bundled profile in a process of its own, and the real client around its library."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from quick_clients import quick_clients

from client.profiles import profile, profiles
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.log import MemoryLogs
from harness.plan import ClusterShape, Topic
from harness.realclients import real_clients

pytestmark = [pytest.mark.timeout(900), pytest.mark.ci]
NOBODY = "127.0.0.1:1"
ROOT = Path(__file__).parents[2]
SEND = {"op": "send", "topic": "orders", "partition": 0, "value": "x"}
SETTINGS = {"kafka-go": {"Writer.RequiredAcks": "all", "Writer.BatchSize": 1}}
"""By client, what its sends need so that a broker acknowledges them, soon."""
SUBJECTS = [
    *(("bundled", one.name, release) for one in profiles().values() for release in one.releases),
    *(("real", client.name, client.version) for client in quick_clients()),
    *(
        pytest.param(("real", client.name, client.version), marks=pytest.mark.slow)
        for client in real_clients()
        if client not in quick_clients()
    ),
]


@pytest.fixture(params=SUBJECTS, ids="-".join)
def start(
    request: pytest.FixtureRequest,
    built_client: Callable[[str, str], Path],
    spoken: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """`start(bootstrap=[...])` starts the subject."""
    kind, name, version = request.param
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    argv = [sys.executable, "-m", "client"] if kind == "bundled" else [built_client(name, version)]
    settings = SETTINGS.get(name, {})
    return lambda **launch: spoken(*argv, client=name, version=version, **{"settings": settings, **launch})


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    """The address of an embedded broker with the topic `orders`."""
    started: list[str] = []
    running, stop = threading.Event(), threading.Event()

    async def main() -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        server.close()
        state = ClusterState(epoch=0, cluster_id="faultlab", controller_id=1, brokers=(), topics=())
        controller = Controller(ClusterShape(brokers=1, topics=(Topic(name="orders"),)), lambda _: address)
        one = EmbeddedBroker(1, state, MemoryLogs(), create_topic=controller.create_topic)
        await one.start(*address)
        controller.attach(one.apply)
        started.append(f"{address[0]}:{address[1]}")
        running.set()
        while not stop.is_set():
            await asyncio.sleep(0.02)
        await one.stop()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert running.wait(10)
    yield started[0]
    stop.set()
    thread.join()


def test_it_is_ready_before_anything_else_and_ends_with_its_stdin(start: Any) -> None:
    before_ns = time.monotonic_ns()
    subject = start(bootstrap=[NOBODY])
    ready = subject.said()
    assert ready["ev"] == "ready"
    assert before_ns < ready["clock_ns"] < time.monotonic_ns()
    code, errors = subject.end()
    assert code == 0
    assert "Traceback" not in errors


def test_an_operation_is_started_and_answered_on_the_labs_clock(start: Any, broker: str) -> None:
    subject = start(bootstrap=[broker])
    ready = subject.said()
    subject.ask(op="connect", id="c")
    events = [subject.said()]
    while events[-1]["ev"] not in ("ok", "error"):
        events.append(subject.said())
    assert (events[0]["ev"], events[-1]["ev"]) == ("started", "ok")
    stamps = [ready["clock_ns"], *(event["at_ns"] for event in events)]
    assert stamps == sorted(stamps)
    answers = [subject.answer(**SEND, id=f"s{number}") for number in range(3)]
    offsets = [answer["offset"] for answer in answers]
    assert {answer["partition"] for answer in answers} == {0}
    assert offsets == list(range(offsets[0], offsets[0] + 3))
    assert subject.answer(op="close", id="end")["ev"] == "ok"
    assert subject.end()[0] == 0


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"op": "juggle"}, "op is connect, send"),
    (SEND, "send: there is no producer before a connect has succeeded"),
    ({**SEND, "handle": "w2"}, "send: there is no producer w2 before a connect has succeeded"),
    ({"op": "close", "handle": "w2"}, "close: there is no producer w2 before a connect has succeeded"),
    ({**SEND, "topic": None}, "send: topic is missing"),
    ({**SEND, "value": None}, "send: value is missing"),
    ({**SEND, "partition": -1}, "send: partition is no number from 0"),
]


def test_commands_that_cannot_be_carried_out_are_answered(start: Any) -> None:
    subject = start(bootstrap=[NOBODY])
    for number, (command, says) in enumerate(WRONG):
        given = {name: value for name, value in command.items() if value is not None}
        answer = subject.answer(**given, id=f"x{number}")
        assert (answer["ev"], answer["class"]) == ("error", "CommandError")
        assert answer["error"].startswith(says)
    assert subject.answer(op="close", id="end")["ev"] == "ok"
    assert subject.end()[0] == 0


def test_a_deadline_is_refused_with_the_reason_of_the_profile(start: Any, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["start"][1]
    subject = start(bootstrap=[NOBODY])
    for operation, reason in profile(name).no_deadline.items():
        answer = subject.answer(**{**SEND, "op": operation}, deadline_s=1, id=f"d-{operation}")
        assert answer["error"] == f"{operation}: the {operation} of {name} takes no deadline: {reason}"
        assert answer["class"] == "CommandError"


def test_what_a_client_does_beside_sending(start: Any, broker: str, request: pytest.FixtureRequest) -> None:
    """Where it can: topics are created, offsets listed, idle connections closed, on the connections of a handle."""
    if request.node.callspec.params["start"][1] != "kafka-go":
        return
    topic = "-".join(request.node.callspec.params["start"]).replace("@", "-")
    subject = start(bootstrap=[broker])
    assert subject.answer(op="connect", id="c")["ev"] == "ok"
    assert subject.answer(**SEND, id="s")["ev"] == "ok"
    assert subject.answer(op="create_topics", id="t", topic=topic, partitions=2, deadline_s=5)["ev"] == "ok"
    again = subject.answer(op="create_topics", id="t2", topic=topic, deadline_s=1)
    assert again["class"] == "TopicAlreadyExists"
    assert subject.answer(**{**SEND, "topic": topic, "partition": 1}, id="s2")["offset"] == 0
    assert subject.answer(op="list_offsets", id="l", topic=topic, partitions=2)["offsets"] == "0:0 1:1"
    assert subject.answer(op="close_idle", id="i")["ev"] == "ok"
    assert subject.answer(**{**SEND, "topic": topic, "partition": 1}, id="s3")["offset"] == 1
    assert subject.answer(op="create_topics", id="t3")["error"].startswith("create_topics: topic is missing")
    assert subject.answer(op="close", id="end")["ev"] == "ok"


def test_a_handle_is_a_producer_of_its_own(start: Any, broker: str) -> None:
    subject = start(bootstrap=[broker])
    assert subject.answer(op="connect", id="c")["ev"] == "ok"
    assert subject.answer(op="connect", id="c2", handle="w2")["ev"] == "ok"
    taken = subject.answer(op="connect", id="c3", handle="w2")
    assert taken["error"] == "connect: there is a producer w2 already, or one on its way"
    assert subject.answer(**SEND, id="s2", handle="w2")["ev"] == "ok"
    assert subject.answer(op="close", id="e2", handle="w2")["ev"] == "ok"
    closed = subject.answer(**SEND, id="s3", handle="w2")
    assert closed["error"] == "send: there is no producer w2 before a connect has succeeded"
    assert subject.answer(**SEND, id="s")["ev"] == "ok"
    assert subject.answer(op="connect", id="again", handle="w2")["ev"] == "ok"
    assert subject.answer(op="close", id="end")["ev"] == "ok"
    assert subject.end()[0] == 0


APART: dict[str, dict[str, Any]] = {
    "sarama": {"settings": {"Metadata.Retry.Max": 0}},
    "kafka-go": {"settings": {}, "producer": "NewWriter"},
}
"""By client, how its handles are started so that each has connections of its own, and dials once."""


def test_dials_of_all_handles_are_numbered_once(start: Any, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["start"][1]
    subject = start(bootstrap=[NOBODY], **APART[name])
    for handle in ("a", "b"):
        subject.ask(op="connect", id=handle, handle=handle)
    events: list[dict[str, Any]] = []
    while len([event for event in events if event["ev"] == "error"]) < 2:
        events.append(subject.said())
        if events[-1]["ev"] == "ok":  # constructed without a dial: its first message dials
            subject.ask(**SEND, id=f"send-{events[-1]['id']}", handle=events[-1]["id"])
    dials = [event["connection"] for event in events if event.get("kind") == "dial_started"]
    assert sorted(dials) == [1, 2]


def test_what_a_dialer_does(start: Any, broker: str, request: pytest.FixtureRequest) -> None:
    """Where there is one: connections are opened, partitions looked up, and messages sent to a dialled leader."""
    if request.node.callspec.params["start"][1] != "kafka-go":
        return
    subject = start(bootstrap=[broker], producer="Dialer", settings={"Dialer.Timeout": 5.0})
    assert subject.answer(op="connect", id="c")["ev"] == "ok"
    early = subject.answer(op="dial_partition", id="early", topic="orders", partition=0)
    assert (early["class"], early["error"]) == (
        "CommandError",
        "dial_partition: orders/0 has not been looked up before",
    )
    assert subject.answer(op="dial", id="d", deadline_s=5)["address"] == broker
    partition = {"topic": "orders", "partition": 0, "deadline_s": 5}
    for operation in ("lookup_partition", "lookup_leader"):
        found = subject.answer(op=operation, id=operation, **partition)
        assert (found["leader"], found["address"]) == (1, broker)
    assert subject.answer(op="lookup_partitions", id="ls", topic="orders", deadline_s=5)["leaders"] == "0:1"
    for operation in ("dial_leader", "dial_partition"):
        assert subject.answer(op=operation, id=operation, **partition)["address"] == broker
    sent = subject.answer(**SEND, id="s", deadline_s=5)
    assert sent["partition"] == 0
    late = subject.answer(op="lookup_partition", id="late", topic="nobody", partition=0, deadline_s=0.3)
    assert (late["class"], late["error"]) == ("Timeout", "context deadline exceeded")
    wrong = subject.answer(op="dial_leader", id="wrong", partition=0)
    assert wrong["class"] == "CommandError"
    assert wrong["error"].startswith("dial_leader: topic is missing")
    assert subject.answer(op="close", id="end")["ev"] == "ok"
    assert subject.end()[0] == 0
