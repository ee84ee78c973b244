"""Protects users who write a subject: each way of breaking the protocol has its own code, its reason and its log."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from harness.drivers import SubjectError, session

Make = Callable[[str], Any]

BAD = {
    "dies before ready": ("raise SystemExit(3)", "subject-died", "exit code 3 before it said `ready`"),
    "dies in an operation": (
        'ready(); c = command(); say(ev="started", id=c["id"]); os._exit(9)',
        "subject-died", "exit code 9 while `p` was under way",
    ),
    "dies between": ("ready(); raise SystemExit(0)", "subject-died", "exit code 0 before it said `started` for `p`"),
    "closes its output": (
        'ready(); c = command(); say(ev="started", id=c["id"]); os.close(1); time.sleep(9)',
        "subject-died", "closed its output while `p`",
    ),
    "garbage": ('ready(); command(); print("oops", flush=True); command()', "subject-garbage-line", "is no JSON"),
    "a list": ('ready(); command(); print("[1]", flush=True); command()', "subject-garbage-line", "no JSON object"),
    "no utf-8": (
        'ready(); command(); os.write(1, bytes([255, 254, 10])); command()', "subject-garbage-line", "is no JSON"
    ),
    "deeply nested": (
        'ready(); command(); print("[" * 100000, flush=True); command()', "subject-garbage-line", "is no JSON"
    ),
    "a long line": (
        'ready(); command(); print("x" * (1 << 21), flush=True); command()', "subject-garbage-line", "longer than 1 MiB"
    ),
    "no number": (
        'ready(); command(); print(\'{"ev":"trace","kind":"state","limit_s":NaN}\', flush=True); command()',
        "subject-garbage-line", "NaN is no JSON number",
    ),
    "an odd time": (
        'ready(); command(); say(ev="started", id="p", at_ns=1.5); command()',
        "subject-garbage-line", "`at_ns` that is no 64-bit integer",
    ),
    "unknown trace kind": (
        'ready(); command(); say(ev="trace", kind="operation_ended", operation="p"); command()',
        "subject-garbage-line", "unknown kind of trace 'operation_ended'",
    ),
    "unknown trace field": (
        'ready(); command(); say(ev="trace", kind="state", colour="red"); command()',
        "subject-garbage-line", "unknown field 'colour'",
    ),
    "error without text": (
        'ready(); command(); say(ev="started", id="p"); say(ev="error", id="p"); command()',
        "subject-garbage-line", "has no `error`",
    ),
    "unknown ev": ('ready(); command(); say(ev="finished", id="p"); command()', "subject-unknown-event", "'finished'"),
    "answers twice": (
        'ready(); command(); say(ev="started", id="p"); say(ev="ok", id="p"); say(ev="ok", id="p"); command()',
        "subject-answers-twice", "`p` twice",
    ),
    "answers an unknown id": (
        'ready(); command(); say(ev="ok", id="q"); command()', "subject-answers-unknown", "`q`, which was never asked",
    ),
    "starts twice": (
        'ready(); command(); say(ev="started", id="p"); say(ev="started", id="p"); command()',
        "subject-out-of-order", "twice",
    ),
    "ready twice": ("ready(); command(); ready(); command()", "subject-out-of-order", "`ready` twice"),
    "speaks before ready": ('say(ev="started", id="p"); command()', "subject-out-of-order", "before its `ready`"),
    "floods": (
        'ready(); command(); line = json.dumps({"ev": "trace", "kind": "state"}) + "\\n"\n'
        "while True: sys.stdout.write(line * 1000)",
        "subject-floods", "more than 2000 lines within a second",
    ),
    "floods in few lines": (
        'ready(); command(); line = json.dumps({"ev": "trace", "kind": "state", "text": "x" * 100_000}) + "\\n"\n'
        "while True: sys.stdout.write(line)",
        "subject-floods", "more than 2 MiB on its stdout in one run",
    ),
}  # fmt: skip


def _speak(made: Any, *, value: str = "v", give_up_after_s: float = 20.0) -> None:
    async def speak() -> None:
        async with made.subject() as subject:
            while True:  # what is broken after the answer shows at the next command
                call = await subject.call("send", {"op": "send", "id": "p", "value": value})
                await subject.result_of(call, give_up_after_s=give_up_after_s)
                await asyncio.sleep(0.2)
                if subject.failure is not None:
                    raise subject.failure

    asyncio.run(speak())


@pytest.mark.parametrize("name", BAD)
def test_bad_subject(name: str, talk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "floods":  # the real limit takes seconds of a processor of two that others use too
        monkeypatch.setattr(session, "LINES_LIMIT", 2000)
    if name == "floods in few lines":
        monkeypatch.setattr(session, "OUTPUT_LIMIT_BYTES", 2 << 20)
    script, code, text = BAD[name]
    made = talk(script)
    with pytest.raises(SubjectError) as raised:
        _speak(made)
    assert raised.value.code == code
    assert text in raised.value.text
    assert str(made.log) in raised.value.text
    assert made.world.started[0].process.returncode is not None


def test_never_ready(talk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "READY_LIMIT_S", 0.3)
    monkeypatch.setattr(session, "CLOSE_LIMIT_S", 0.3)
    with pytest.raises(SubjectError, match=r'did not say \{"ev":"ready"\} within 0.3 s') as raised:
        _speak(talk("time.sleep(60)"))
    assert raised.value.code == "subject-never-ready"


def test_stops_reading_with_a_full_pipe(talk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "WRITE_LIMIT_S", 0.3)
    with pytest.raises(SubjectError, match="did not take the command `p` from its stdin") as raised:
        _speak(talk("ready(); time.sleep(60)"), value="x" * (1 << 21))
    assert raised.value.code == "subject-stopped-reading"


def test_stops_reading_before_a_small_command(talk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "START_LIMIT_S", 0.3)
    with pytest.raises(SubjectError, match="did not say `started` for `p`") as raised:
        _speak(talk("ready(); time.sleep(60)"))
    assert raised.value.code == "subject-stopped-reading"


def test_ignores_close(talk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "CLOSE_LIMIT_S", 0.3)
    made = talk('ready(); c = command(); say(ev="started", id="x"); say(ev="ok", id="x"); time.sleep(60)')

    async def speak() -> None:
        async with made.subject() as subject:
            await subject.result_of(await subject.call("close", {"op": "close", "id": "x"}), give_up_after_s=9)
            await subject.wait_closed()

    with pytest.raises(SubjectError, match="answered `close` but had not exited") as raised:
        asyncio.run(speak())
    assert raised.value.code == "subject-ignores-close"
    assert made.world.started[0].process.returncode is not None


def test_half_a_surrogate_pair_can_be_written_to_a_file(talk: Make) -> None:
    made = talk(r"""
        ready(); c = command(); say(ev="started", id="p")
        print('{"ev":"error","id":"p","error":"bad \\ud800 text"}', flush=True)
        command()
    """)

    async def speak() -> str:
        async with made.subject() as subject:
            answer = await subject.result_of(await subject.call("send", {"op": "send", "id": "p"}), give_up_after_s=9)
            return answer.error or ""

    assert asyncio.run(speak()).encode() == b"bad ? text"
