"""Protects that a client unlike Sarama can be expressed: shared parts, other handles, own results, deadlines."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from bench_of_one import ADDRESS, unreachable_broker
from pooled_profile import POOLED, PooledSession

from client.operations import Context, Handler, Result
from client.serve import Event, event_to_dict, serve
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.simulation import simulate


class Subject:
    """The pooled client behind the subject protocol, on virtual time."""

    def __init__(self, loop: SimLoop) -> None:
        self.loop = loop
        self.said: list[dict[str, Any]] = []
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        launch = {"client": "pooled", "version": "1", "bootstrap": ["127.0.2.1:9092"]}
        self.exit = asyncio.create_task(serve(launch, self._commands(), self._write))

    async def _commands(self) -> AsyncIterator[bytes]:
        while True:
            yield await self._lines.get()

    def _write(self, events: list[Event]) -> None:
        self.said += [event_to_dict(event) for event in events]

    def say(self, op: str, call_id: str, **arguments: object) -> None:
        self._lines.put_nowait(json.dumps({"op": op, "id": call_id, **arguments}).encode())

    async def ask(self, op: str, call_id: str, **arguments: object) -> dict[str, Any]:
        self.say(op, call_id, **arguments)
        return await self.answer(call_id)

    async def answer(self, call_id: str) -> dict[str, Any]:
        while True:
            for event in self.said:
                if event["ev"] in ("ok", "error") and event["id"] == call_id:
                    return event
            await asyncio.sleep(0.001)

    def traced(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.said if event["ev"] == "trace" and event["kind"] == kind]


@pytest.fixture
def with_subject(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Subject], Awaitable[None]]], None]:
    monkeypatch.setattr("client.serve.profile", lambda _name: POOLED)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            await asyncio.sleep(0.5)
            writer.write(data)

    def run(check: Callable[[Subject], Awaitable[None]]) -> None:
        async def main(loop: SimLoop) -> None:
            loop.new_host("broker").spawn(asyncio.start_server(echo, *ADDRESS), name="broker")
            await asyncio.sleep(0.01)
            await check(Subject(loop))

        simulate(main, Random(1))

    return run


WithSubject = Callable[[Callable[[Subject], Awaitable[None]]], None]


def test_two_writers_share_one_connection_and_each_closes_alone(with_subject: WithSubject) -> None:
    async def check(subject: Subject) -> None:
        await subject.ask("connect", "c1")
        await subject.ask("connect", "c2", handle="second")
        first = await subject.ask("send", "s1", topic="t", value="x")
        second = await subject.ask("send", "s2", topic="t", value="y", handle="second")
        assert (first["written"], second["written"]) == (1, 1)
        assert len(subject.traced("dial_started")) == 1
        assert (await subject.ask("close", "e2", handle="second"))["ev"] == "ok"
        assert (await subject.ask("send", "s3", topic="t", value="z"))["written"] == 2
        assert not subject.exit.done()
        await subject.ask("close", "end")
        assert await subject.exit == 0

    with_subject(check)


def test_a_send_blocks_before_it_is_queued_on_two_settings(with_subject: WithSubject) -> None:
    async def check(subject: Subject) -> None:
        await subject.ask("connect", "c")
        for name in ("s1", "s2"):
            subject.say("send", name, topic="t", value="x")
        assert (await subject.answer("s2"))["ev"] == "ok"
        (blocked,) = [wait for wait in subject.traced("wait_started") if wait["purpose"] == "pool"]
        assert (blocked["waiting_on"], blocked["limit_s"]) == ("Pool.Size + Writer.BlockTimeout", 2.0)
        unlimited = [wait for wait in subject.traced("wait_started") if wait["purpose"] == "echo"]
        assert {wait["waiting_on"] for wait in unlimited} == {"no time-out"}
        assert not any("limit_s" in wait for wait in unlimited)

    with_subject(check)


def test_a_bare_dialer_returns_what_it_has_and_keeps_its_deadline(with_subject: WithSubject) -> None:
    async def check(subject: Subject) -> None:
        await subject.ask("make_dialer", "m", handle="d")
        reached = await subject.ask("dial", "d1", handle="d", deadline_s=5)
        assert {name: reached[name] for name in ("ev", "connection", "reached")} == {
            "ev": "ok", "connection": 1, "reached": True,
        }  # fmt: skip
        refused = await subject.ask("send", "s", topic="t", value="x", handle="d")
        assert refused["error"] == "send: d is a dialer: it sends nothing"
        with unreachable_broker(subject.loop):
            started_at = subject.loop.time()
            failed = await subject.ask("dial", "d2", handle="d", deadline_s=5)
        assert failed["error"] == "context deadline exceeded"
        assert subject.loop.time() - started_at == pytest.approx(5, abs=0.01)

    with_subject(check)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            {"op": "send", "topic": "t", "value": "x", "deadline_s": 1},
            "send: the send of pooled takes no deadline: a Writer's Send takes no context",
        ),
        ({"op": "dial", "handle": "d", "deadline_s": "soon"}, "dial: deadline_s is no number of seconds from 0"),
        ({"op": "juggle"}, 'op is connect, make_dialer, send, dial or close, not "juggle"'),
    ],
)
def test_what_a_client_cannot_be_asked_for_is_answered(
    with_subject: WithSubject, command: dict[str, Any], says: str
) -> None:
    async def check(subject: Subject) -> None:
        answer = await subject.ask(**{**command, "call_id": "x"})
        assert (answer["class"], answer["error"]) == ("CommandError", says)

    with_subject(check)


def test_an_operation_hears_that_the_subject_ends(with_subject: WithSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[str] = []

    class Waiting(PooledSession):
        @property
        def handlers(self) -> Mapping[str, Handler]:
            return {**super().handlers, "wait": self._wait}

        async def _wait(self, _: Mapping[str, object], context: Context) -> Result:
            context.cancellation.on_cancel(lambda: cancelled.append(context.operation))
            await asyncio.Event().wait()
            return {}

    async def check(subject: Subject) -> None:
        subject.say("wait", "w")
        await subject.ask("close", "end")
        assert await subject.exit == 0
        assert cancelled == ["w"]

    monkeypatch.setattr("client.serve.profile", lambda _name: replace(POOLED, open=Waiting))
    with_subject(check)
