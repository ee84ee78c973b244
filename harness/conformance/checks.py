"""What the subject protocol asks of a program, one check a promise (docs/SUBJECT_PROTOCOL.md).

A check returns how the promise was kept. It raises NotKept or SubjectError where it was not; what is allowed but worth
knowing it leaves in the bench's notes.
"""

from collections.abc import Awaitable, Callable

from harness.conformance.bench import TOPIC, Bench, NotKept
from harness.drivers import Answer
from harness.story import Outcome

Check = Callable[[Bench], Awaitable[str]]
CHECKS: dict[str, Check] = {}
"""By their names, in the order in which they are made."""

_TEXT = "größer 漢字 \u2028 \U0001f600"


def _check(function: Check) -> Check:
    CHECKS[getattr(function, "__name__", "").replace("_", "-")] = function
    return function


@_check
async def ready(bench: Bench) -> str:
    async with bench.subject():
        pass
    if bench.stamps_refused is not None:
        bench.notes.append(f"{bench.stamps_refused}: its times include the way to the lab")
    return "says `ready` before anything else" + ("" if bench.stamps_refused else ", on the lab's clock")


@_check
async def send(bench: Bench) -> str:
    async with bench.subject() as subject:
        await bench.connected(subject)
        answers = [
            await bench.ask(subject, "send", f"s{n}", topic=TOPIC, partition=0, value=f"value {n}") for n in range(2)
        ]
        for answer in answers:
            _acknowledged(answer)
        if any(answer.stamped == "harness" for answer in answers) and bench.stamps_refused is None:
            raise NotKept("its at_ns lie before the command or after the answer's arrival: they are not believed")
    offsets = [answer.offset for answer in answers]
    if None in offsets or None in [answer.partition for answer in answers]:
        bench.notes.append("its `ok` says no partition or no offset: what was lost or doubled cannot be told by them")
    logged = {(partition, record.offset): record.value for partition, record in await bench.log()}
    for number, answer in enumerate(answers):
        value = f"value {number}".encode()
        if value not in logged.values():
            raise NotKept(f"send `s{number}` was answered `ok`, but its value is not in the log")
        if answer.offset is not None and logged.get((answer.partition or 0, answer.offset)) != value:
            raise NotKept(f"send `s{number}` was answered with offset {answer.offset}, where another value is")
    return "`ok` is said of what is in the log"


@_check
async def text(bench: Bench) -> str:
    async with bench.subject() as subject:
        await bench.connected(subject)
        _acknowledged(await bench.ask(subject, "send", "näme-1", topic=TOPIC, value=_TEXT, key=_TEXT))
    found = [record for _, record in await bench.log() if record.value == _TEXT.encode()]
    if not found:
        raise NotKept(f"the value {_TEXT!r} came to the log as something else: values are UTF-8")
    if found[0].key != _TEXT.encode():
        raise NotKept(f"the key {_TEXT!r} came to the log as {found[0].key!r}")
    return "ids, keys and values in any script; a partition need not be named"


@_check
async def unknown_op(bench: Bench) -> str:
    async with bench.subject() as subject:
        answer = await bench.ask(subject, "juggle", "x")
        if answer.outcome is Outcome.OK:
            raise NotKept("an operation that there is not was answered `ok`; an `error` is due")
        await bench.connected(subject)
    return "an unknown `op` is answered with an `error`, and the next command is taken"


@_check
async def dark(bench: Bench) -> str:
    async with bench.subject() as subject:
        await bench.connected(subject)
        _acknowledged(await bench.ask(subject, "send", "warm_up", topic=TOPIC, partition=0, value="light"))
        async with bench.dark():
            calls = [
                await subject.call("send", {"op": "send", "id": name, "topic": TOPIC, "partition": 0, "value": name})
                for name in ("first", "second")
            ]
            together = not calls[0].done.happened
            answers = [await bench.answered(subject, call) for call in calls]
    if not together:
        raise NotKept("the second `send` began only when the first had ended: several may be under way at once")
    return f"two sends at once into the dark fail{_how(bench, answers)}"


@_check
async def start_in_the_dark(bench: Bench) -> str:
    async with bench.subject() as subject, bench.dark():
        answer = await bench.ask(subject, "connect", "c")
        if answer.outcome is Outcome.OK:
            bench.notes.append("`connect` succeeds without a broker: the client dials later")
            answer = await bench.ask(subject, "send", "s", topic=TOPIC, partition=0, value="dark")
    return f"starting in the dark fails{_how(bench, [answer])}"


@_check
async def close(bench: Bench) -> str:
    async with bench.subject() as subject:
        await bench.connected(subject)
        answer = await bench.ask(subject, "close", "end")
        if answer.outcome is not Outcome.OK:
            raise NotKept(f"`close` failed: {answer.error}")
        code = await subject.closed()
    if code != 0:
        raise NotKept(f"it exited with {code} after `close`; 0 is due")
    return "`close` is answered, and it exits with 0"


@_check
async def end_of_stdin(bench: Bench) -> str:
    async with bench.subject() as subject:
        await bench.connected(subject)
        code = await subject.closed(after="saw the end of its stdin")
    return f"it exits when its stdin ends (exit code {code})"


def _acknowledged(answer: Answer) -> None:
    if answer.outcome is not Outcome.OK:
        raise NotKept(f"a `send` failed though the broker is up: {answer.error}")


def _how(bench: Bench, answers: list[Answer]) -> str:
    """How long it took, for the end of a sentence. Raises NotKept where it did not fail, or said too little."""
    for answer in answers:
        if answer.outcome is Outcome.OK:
            raise NotKept("a `send` was answered `ok` though no packet reached the broker")
        if not (answer.error or "").strip():
            raise NotKept("an `error` has no text: it should say what the client prints")
    if any(answer.error_class is None for answer in answers):
        bench.notes.append("its `error` names no `class`: scenarios cannot tell one error from another by it")
    longest_s = max(answer.ended_ns - answer.started_ns for answer in answers) / 1e9
    return f" after {longest_s:.3f} s: {answers[0].error}"
