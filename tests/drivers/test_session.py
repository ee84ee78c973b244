"""Protects the conversation with a well-behaved subject: what it is told, and whose times are believed."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from harness.drivers import Subject, SubjectError
from harness.story import EventKind, Outcome

Make = Callable[[str], Any]

POLITE = """
ready()
while True:
    c = command()
    say(ev="started", id=c["id"], at_ns=now())
    if c["op"] == "send":
        say(ev="trace", at_ns=now(), kind="wait_started", waiting_on="Net.ReadTimeout", limit_s=2)
        say(ev="ok", id=c["id"], at_ns=now(), partition=0, offset=5)
    elif c["op"] == "connect":
        say(ev="error", id=c["id"], at_ns=now(), error="no brokers", **{"class": "ErrOutOfBrokers"})
    else:
        say(ev="ok", id=c["id"], at_ns=now())
        raise SystemExit(0)
"""


def test_operations_are_timed_by_the_subject_itself(talk: Make) -> None:
    made = talk(POLITE)

    async def speak() -> None:
        async with made.subject() as subject:
            before_ns = time.monotonic_ns()
            failed = await subject.result_of(
                await subject.call("connect", {"op": "connect", "id": "c"}), give_up_after_s=9
            )
            assert (failed.outcome, failed.error, failed.error_class) == (
                Outcome.FAILED, "no brokers", "ErrOutOfBrokers"
            )  # fmt: skip
            sent = await subject.result_of(await subject.call("send", {"op": "send", "id": "p"}), give_up_after_s=9)
            assert (sent.outcome, sent.stamped) == (Outcome.OK, "subject")
            assert sent.result == {"partition": 0, "offset": 5}
            assert before_ns < failed.started_ns <= failed.ended_ns <= sent.started_ns <= sent.ended_ns
            assert sent.ended_ns < time.monotonic_ns()
            await subject.result_of(await subject.call("close", {"op": "close", "id": "x"}), give_up_after_s=9)
            assert await subject.wait_closed() == 0

    asyncio.run(speak())
    assert [kind for _, kind, _ in made.told] == [
        EventKind.OPERATION_STARTED,
        EventKind.OPERATION_ENDED,
        EventKind.OPERATION_STARTED,
        "wait_started",
        EventKind.OPERATION_ENDED,
        EventKind.OPERATION_STARTED,
        EventKind.OPERATION_ENDED,
    ]
    assert made.told[3][2] == {"waiting_on": "Net.ReadTimeout", "limit_s": 2.0}


def test_the_launch_record_says_what_the_plan_says(talk: Make) -> None:
    made = talk("ready(); print(json.dumps(launch), file=sys.stderr, flush=True); command()")

    async def speak() -> None:
        async with made.subject():
            pass

    asyncio.run(speak())
    assert json.loads(made.log.read_text()) == {
        "protocol": 1, "client": "mine", "version": "1", "bootstrap": ["127.0.2.1:9092", "127.0.2.2:9092"],
        "topic": "orders", "seed": 7,
        "settings": {"Net.DialTimeout": 1.5, "Producer.Retry.Max": 3, "Producer.RequiredAcks": "WaitForAll",
                     "Net.KeepAlive": True},
    }  # fmt: skip


@pytest.mark.parametrize("offset_s", [-3600, 3600])
def test_another_clock_is_not_believed_and_that_is_said(talk: Make, offset_s: int) -> None:
    made = talk(f"""
        skew = {offset_s} * 10**9
        say(ev="ready", clock_ns=now() + skew)
        c = command()
        say(ev="started", id=c["id"], at_ns=now() + skew)
        say(ev="ok", id=c["id"], at_ns=now() + skew)
        command()
    """)

    async def speak() -> None:
        async with made.subject() as subject:
            before_ns = time.monotonic_ns()
            answer = await subject.result_of(await subject.call("send", {"op": "send", "id": "p"}), give_up_after_s=9)
            assert answer.stamped == "harness"
            assert before_ns <= answer.started_ns <= answer.ended_ns <= time.monotonic_ns()

    asyncio.run(speak())
    assert made.told[0][1] == EventKind.STAMPS_REFUSED
    assert "off the lab's" in str(made.told[0][2]["text"])


def test_times_may_be_left_out(talk: Make) -> None:
    made = talk("""
        say(ev="ready")
        c = command()
        say(ev="started", id=c["id"])
        time.sleep(0.05)
        say(ev="ok", id=c["id"])
        command()
    """)

    async def speak() -> None:
        async with made.subject() as subject:
            answer = await subject.result_of(await subject.call("send", {"op": "send", "id": "p"}), give_up_after_s=9)
            assert answer.stamped == "harness"
            assert answer.ended_ns - answer.started_ns > 25_000_000

    asyncio.run(speak())
    assert made.told[0][1] == EventKind.STAMPS_REFUSED


def test_one_impossible_stamp_makes_the_operation_the_harness_own(talk: Make) -> None:
    made = talk("""
        ready()
        c = command()
        say(ev="started", id=c["id"], at_ns=now())
        say(ev="ok", id=c["id"], at_ns=now() + 10**9)
        command()
    """)

    async def speak() -> None:
        async with made.subject() as subject:
            answer = await subject.result_of(await subject.call("send", {"op": "send", "id": "p"}), give_up_after_s=9)
            assert answer.stamped == "harness"
            assert answer.ended_ns <= time.monotonic_ns()

    asyncio.run(speak())


def test_patience_ends_in_a_censored_answer_and_a_late_one_is_told(talk: Make) -> None:
    made = talk("""
        ready()
        c = command()
        say(ev="started", id=c["id"], at_ns=now())
        d = command()
        say(ev="started", id=d["id"], at_ns=now())
        say(ev="error", id=c["id"], at_ns=now(), error="late")
        say(ev="ok", id=d["id"], at_ns=now())
        command()
    """)

    async def speak() -> None:
        async with made.subject() as subject:
            call = await subject.call("send", {"op": "send", "id": "slow"})
            answer = await subject.result_of(call, give_up_after_s=0.1)
            assert answer.outcome is Outcome.CENSORED
            assert answer.ended_ns - answer.started_ns >= 100_000_000 - 1_000_000
            assert subject.has_open_operations
            after = await subject.result_of(await subject.call("send", {"op": "send", "id": "n"}), give_up_after_s=9)
            assert after.outcome is Outcome.OK
            assert not subject.has_open_operations

    asyncio.run(speak())
    late = [(fields["operation"], fields["error"]) for _, kind, fields in made.told if kind == EventKind.ANSWERED_LATE]
    assert late == [("slow", "late")]


def test_operations_may_overlap(talk: Make) -> None:
    made = talk("""
        ready()
        a, b = None, None
        a = command(); say(ev="started", id=a["id"], at_ns=now())
        b = command(); say(ev="started", id=b["id"], at_ns=now())
        say(ev="ok", id=b["id"], at_ns=now(), offset=2)
        say(ev="ok", id=a["id"], at_ns=now(), offset=1)
        command()
    """)

    async def speak() -> None:
        async with made.subject() as subject:
            first = await subject.call("send", {"op": "send", "id": "a"})
            second = await subject.call("send", {"op": "send", "id": "b"})
            assert (await subject.result_of(first, give_up_after_s=9)).result == {"offset": 1}
            assert (await subject.result_of(second, give_up_after_s=9)).result == {"offset": 2}

    asyncio.run(speak())


def test_nothing_is_left_running_behind_it(talk: Make) -> None:
    made = talk("ready()\nwhile True: time.sleep(1)")

    async def speak() -> None:
        async with made.subject() as subject:
            call = asyncio.create_task(subject.call("send", {"op": "send", "id": "never"}))
            await asyncio.sleep(0.05)
            call.cancel()

    asyncio.run(speak())
    assert made.world.started[0].process.returncode is not None


def test_a_program_that_is_not_there_is_named(talk: Make) -> None:
    from dataclasses import replace

    made = talk("")
    made.plan = replace(made.plan, client=replace(made.plan.client, argv=("/nonexistent/mine",)))

    async def speak() -> None:
        async with made.subject():
            pass

    with pytest.raises(SubjectError, match="could not be started: /nonexistent/mine") as raised:
        asyncio.run(speak())
    assert raised.value.code == "subject-not-started"


def test_a_bug_while_reading_is_raised_instead_of_waited_for(talk: Make) -> None:
    made = talk('ready(); c = command(); say(ev="started", id=c["id"]); command()')

    async def speak() -> None:
        async with Subject.started(made.plan, made.world, lambda *_: 1 / 0, made.log) as subject:
            await subject.call("send", {"op": "send", "id": "p"})

    with pytest.raises(ZeroDivisionError):
        asyncio.run(speak())
