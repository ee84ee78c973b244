"""Protects the subject protocol's bundled side: every command answered once, whatever comes in."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from client.serve import serve

WithBroker = Callable[[Callable[..., Any]], None]


def test_connect_send_close(with_broker: WithBroker, subject: Callable[..., Any]) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        one = subject(address)
        assert (await one.ask(op="connect", id="c"))["ev"] == "ok"
        first = await one.ask(op="send", id="a", topic="orders", partition=0, value="hello")
        second = await one.ask(op="send", id="b", topic="orders", partition=2, key="k", value="ünï")
        assert (first["partition"], first["offset"]) == (0, 0)
        assert (second["partition"], second["offset"]) == (2, 0)
        assert (await one.ask(op="close", id="end"))["ev"] == "ok"
        assert await one.exit == 0
        said = [event["ev"] for event in one.said if event["ev"] != "trace"]
        assert said == ["ready"] + ["started", "ok"] * 4
        assert abs(one.said[0]["clock_ns"] - time.monotonic_ns()) < 30e9
        stamps = [event["at_ns"] for event in one.said if event["ev"] != "ready"]
        assert stamps == sorted(stamps)
        kinds = {event["kind"] for event in one.said if event["ev"] == "trace"}
        assert {"dial_started", "wait_ended", "request_sent", "attempt_ended", "connection_closed"} <= kinds
        assert all(
            isinstance(event["kind"], str) and event["at_ns"] > 0 for event in one.said if event["ev"] == "trace"
        )

    with_broker(check)


def test_the_launch_record_says_which_producer(
    with_broker: WithBroker, subject: Callable[..., Any], launch: Callable[..., dict[str, Any]]
) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        one = subject(launch={**launch(address, Producer_MaxMessageBytes=50), "producer": "async"})
        await one.ask(op="connect", id="c")
        failed = await one.ask(op="send", id="a", topic="orders", value="x" * 100)
        assert failed["class"] == "ErrMessageSizeTooLarge"
        assert failed["error"].startswith("kafka: Failed to produce message to topic orders: kafka server: Message was")
        assert (await one.ask(op="close", id="end"))["ev"] == "ok"
        assert await one.exit == 0
        wrong = subject(launch={**launch(address), "producer": "asink"})
        assert await wrong.exit == 4
        assert wrong.log == ["FAULTLAB_SUBJECT: sarama has no producer asink, only sync, async"]

    with_broker(check)


def test_several_operations_at_once(with_broker: WithBroker, subject: Callable[..., Any]) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        one = subject(address)
        await one.ask(op="connect", id="c")
        for index in range(200):
            one.say({"op": "send", "id": f"s{index}", "topic": "orders", "partition": index % 3, "value": "x"})
        answers = [await one.answer(f"s{index}") for index in range(200)]
        assert {a["ev"] for a in answers} == {"ok"}
        places = {(a["partition"], a["offset"]) for a in answers}
        assert len(places) == 200
        one.say(None)
        assert await one.exit == 0

    with_broker(check)


def test_the_end_of_input_ends_the_subject_at_once_and_closes_nothing_politely(
    with_broker: WithBroker, subject: Callable[..., Any]
) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        one = subject(address, Producer_Flush_Frequency=60.0)
        await one.ask(op="connect", id="c")
        one.say({"op": "send", "id": "stuck", "topic": "orders", "partition": 0, "value": "x"})
        one.say(None)
        assert await one.exit == 0
        assert not [event for event in one.said if event["ev"] in ("ok", "error") and event["id"] == "stuck"]

    with_broker(check)


def test_a_refused_bootstrap_is_the_clients_error_and_connect_can_be_tried_again(
    with_broker: WithBroker, subject: Callable[..., Any]
) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        await broker.stop()
        one = subject(address, Metadata_Retry_Backoff=0.01)
        failed = await one.ask(op="connect", id="c")
        assert failed["class"] == "ErrOutOfBrokers"
        assert failed["error"].startswith("kafka: client has run out of available brokers")
        assert (await one.ask(op="connect", id="again"))["class"] == "ErrOutOfBrokers"
        assert (await one.ask(op="send", id="s", topic="orders", value="x"))["class"] == "CommandError"
        assert (await one.ask(op="close", id="end"))["ev"] == "ok"
        assert await one.exit == 0

    with_broker(check)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"garbage", "a command is a JSON object in a line"),
        (b"\xff\xfe", "a command is a JSON object in a line"),
        (b"[1]", "a command is a JSON object, not [1]"),
        (b"{}", "a command's id is a text, not null"),
        (b'{"op":"connect","id":7}', "a command's id is a text, not 7"),
        (b'{"op":"connect","id":"used"}', "the id used was used before"),
    ],
)
def test_garbage_is_answered_and_survived(subject: Callable[..., Any], line: bytes, says: str) -> None:
    async def check() -> None:
        one = subject(("127.0.0.1", 1), Metadata_Retry_Max=0)
        await one.ask(op="connect", id="used")
        one.say(line)
        answer = await one.answer(None)
        assert says in answer["error"]
        assert answer["class"] == "CommandError"
        one.say({"op": "close", "id": "end"})
        assert await one.exit == 0

    asyncio.run(check())


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ({"op": "explode"}, "op is connect, send or close"),
        ({}, "op is connect, send or close, not null"),
        ({"op": "send", "value": "x"}, "topic is missing"),
        ({"op": "send", "topic": "orders"}, "value is missing"),
        ({"op": "send", "topic": "orders", "value": "x", "key": 1}, "key is no text"),
        ({"op": "send", "topic": "orders", "value": "x", "partition": -1}, "partition is no number from 0"),
        ({"op": "send", "topic": "orders", "value": "x", "partition": True}, "partition is no number from 0"),
        ({"op": "send", "topic": "orders", "value": "x", "deadline_s": 6}, "the send of sarama takes no deadline"),
        ({"op": "send", "topic": "orders", "value": "x"}, "no producer before a connect has succeeded"),
    ],
)
def test_commands_that_cannot_be_carried_out_are_started_and_answered(
    subject: Callable[..., Any], command: dict[str, Any], says: str
) -> None:
    async def check() -> None:
        one = subject(("127.0.0.1", 1))
        answer = await one.ask(**command, id="x")
        assert says in answer["error"]
        assert [event["ev"] for event in one.said if event.get("id") == "x"] == ["started", "error"]
        one.say(None)
        assert await one.exit == 0

    asyncio.run(check())


def test_close_is_answered_once_and_nothing_is_sent_behind_it(
    with_broker: WithBroker, subject: Callable[..., Any]
) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        one = subject(address, Producer_Flush_Frequency=0.5)
        await one.ask(op="connect", id="c")
        one.say({"op": "send", "id": "before", "topic": "orders", "partition": 0, "value": "x"})
        await asyncio.sleep(0.1)  # well before it is flushed, so that close has to wait
        one.say({"op": "close", "id": "end"})
        one.say({"op": "close", "id": "again"})
        await one.answer("again")
        one.say({"op": "send", "id": "after", "topic": "orders", "partition": 0, "value": "x"})
        assert (await one.answer("before"))["ev"] == "ok"
        assert (await one.answer("again"))["class"] == "CommandError"
        assert (await one.answer("after"))["class"] == "ErrShuttingDown"
        assert await one.exit == 0
        assert not one.log

    with_broker(check)


def test_two_connects_give_one_producer(with_broker: WithBroker, subject: Callable[..., Any]) -> None:
    async def check(broker: Any, address: tuple[str, int]) -> None:
        one = subject(address)
        one.say({"op": "connect", "id": "first"})
        one.say({"op": "connect", "id": "second"})
        answers = [await one.answer(name) for name in ("first", "second")]
        assert [a["ev"] for a in answers] == ["ok", "error"]
        one.say(None)
        await one.exit

    with_broker(check)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"client": "sarma"}, "there is no profile sarma"),
        ({"version": "1.27.3"}, "sarama 1.27.3 is not reproduced, only 1.27.2"),
        ({"version": 1.27}, "version is 1.27, not a text"),
        ({"bootstrap": "127.0.0.1:9092"}, "not a list of host:port"),
        ({"bootstrap": ["127.0.0.1"]}, "bootstrap: 127.0.0.1: missing port in address"),
        ({"settings": [1]}, "settings is [1], not an object"),
        ({"settings": {"Net.DialTimeout": None}}, "'Net.DialTimeout' is None, neither number, text nor flag"),
        ({"seed": "x"}, "seed is 'x', not an integer"),
        ({"protocol": 2}, "protocol is 2, this subject speaks 1"),
    ],
)
def test_a_launch_record_that_cannot_be_followed_ends_with_4_and_a_reason(
    subject: Callable[..., Any], launch: Callable[..., dict[str, Any]], change: dict[str, Any], says: str
) -> None:
    async def check() -> None:
        one = subject(launch=launch(("127.0.0.1", 1)) | change)
        assert await one.exit == 4
        assert says in "".join(one.log)
        assert not one.said

    asyncio.run(check())


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"Net.DialTimeot": 1.0}, "sarama has no setting Net.DialTimeot"),
        ({"Net.DialTimeout": 0.0}, "kafka: invalid configuration (Net.DialTimeout must be > 0)"),
    ],
)
def test_settings_that_are_refused_fail_the_connect(
    subject: Callable[..., Any], launch: Callable[..., dict[str, Any]], settings: dict[str, Any], says: str
) -> None:
    async def check() -> None:
        one = subject(launch=launch(("127.0.0.1", 1)) | {"settings": settings})
        assert says in (await one.ask(op="connect", id="c"))["error"]
        one.say(None)
        assert await one.exit == 0

    asyncio.run(check())


def test_nobody_reading_ends_the_subject(subject: Callable[..., Any]) -> None:
    async def check() -> None:
        one = subject(("127.0.0.1", 1))

        def gone(events: list[dict[str, Any]]) -> None:
            raise BrokenPipeError("gone")

        log: list[str] = []
        launch = {"client": "sarama", "version": "1.27.2", "bootstrap": ["127.0.0.1:1"]}
        assert await serve(launch, one, gone, log.append) == 1
        assert "nobody reads our events any more" in log[0]
        one.exit.cancel()

    asyncio.run(check())
