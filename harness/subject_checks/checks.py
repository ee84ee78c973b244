"""What the subject protocol (docs/SUBJECT_PROTOCOL.md) requires of a program, one check a requirement.

A check returns a sentence about how the requirement is met. It raises CheckFailed or SubjectError where it is not. What
is allowed but worth knowing goes into the context's notes.
"""

from collections.abc import Awaitable, Callable, Sequence

from harness.drivers import OperationResult
from harness.story import Outcome, integer_of
from harness.subject_checks.context import TOPIC, CheckContext, CheckFailed

Check = Callable[[CheckContext], Awaitable[str]]
CHECKS: dict[str, Check] = {}
"""By name, in the order in which they are made."""

_TEXT = "größer 漢字 \u2028 \U0001f600"


def _check(function: Check) -> Check:
    CHECKS[getattr(function, "__name__", "").replace("_", "-")] = function
    return function


@_check
async def ready(context: CheckContext) -> str:
    async with context.subject():
        pass
    if context.clock_rejection is not None:
        context.notes.append(f"{context.clock_rejection}: its times include the way to the lab")
    return "says `ready` before anything else" + ("" if context.clock_rejection else ", on the lab's clock")


@_check
async def send(context: CheckContext) -> str:
    async with context.subject() as subject:
        await context.connect(subject)
        answers = [
            await context.run_operation(subject, "send", f"s{n}", topic=TOPIC, partition=0, value=f"value {n}")
            for n in range(2)
        ]
        for answer in answers:
            _acknowledged(answer)
        if any(answer.stamped == "harness" for answer in answers) and context.clock_rejection is None:
            raise CheckFailed("its at_ns lie before the command or after the answer's arrival: they are not believed")
    written = [(integer_of(one.result, "partition"), integer_of(one.result, "offset")) for one in answers]
    if any(None in place for place in written):
        context.notes.append("its `ok` says no partition or no offset: what was lost or doubled cannot be told by them")
    logged = {(partition, record.offset): record.value for partition, record in await context.log()}
    for number, (partition, offset) in enumerate(written):
        value = f"value {number}".encode()
        if value not in logged.values():
            raise CheckFailed(f"send `s{number}` was answered `ok`, but its value is not in the log")
        if offset is not None and logged.get((partition or 0, offset)) != value:
            raise CheckFailed(f"send `s{number}` was answered with offset {offset}, where another value is")
    return "`ok` is said of what is in the log"


@_check
async def text(context: CheckContext) -> str:
    async with context.subject() as subject:
        await context.connect(subject)
        _acknowledged(await context.run_operation(subject, "send", "näme-1", topic=TOPIC, value=_TEXT, key=_TEXT))
    found = [record for _, record in await context.log() if record.value == _TEXT.encode()]
    if not found:
        raise CheckFailed(f"the value {_TEXT!r} came to the log as something else: values are UTF-8")
    if found[0].key != _TEXT.encode():
        raise CheckFailed(f"the key {_TEXT!r} came to the log as {found[0].key!r}")
    return "ids, keys and values in any script; a partition need not be named"


@_check
async def unknown_op(context: CheckContext) -> str:
    async with context.subject() as subject:
        answer = await context.run_operation(subject, "juggle", "x")
        if answer.outcome is Outcome.OK:
            raise CheckFailed("an operation that there is not was answered `ok`; an `error` is due")
        await context.connect(subject)
    return "an unknown `op` is answered with an `error`, and the next command is taken"


@_check
async def dark(context: CheckContext) -> str:
    async with context.subject() as subject:
        await context.connect(subject)
        _acknowledged(await context.run_operation(subject, "send", "warm_up", topic=TOPIC, partition=0, value="light"))
        async with context.dark():
            calls = [
                await subject.call("send", {"op": "send", "id": name, "topic": TOPIC, "partition": 0, "value": name})
                for name in ("first", "second")
            ]
            together = not calls[0].done.happened
            failed = await context.answers_in_the_dark(calls)
        answers = [await context.wait_for_result(subject, call) for call in calls]
    if not together:
        raise CheckFailed("the second `send` began only when the first had ended: several may be under way at once")
    return f"two sends at once without a reachable broker {_describe_dark(context, failed, answers)}"


@_check
async def start_in_the_dark(context: CheckContext) -> str:
    async with context.subject() as subject:
        async with context.dark():
            call = await subject.call("connect", {"op": "connect", "id": "c"})
            failed = await context.answers_in_the_dark([call])
            if call.result is not None and call.result.outcome is Outcome.OK:
                context.notes.append("`connect` succeeds without a broker: the client dials later")
                call = await subject.call(
                    "send", {"op": "send", "id": "s", "topic": TOPIC, "partition": 0, "value": "dark"}
                )
                failed = await context.answers_in_the_dark([call])
        answer = await context.wait_for_result(subject, call)
    return f"`{call.operation}` while no broker is reachable from the start {_describe_dark(context, failed, [answer])}"


@_check
async def close(context: CheckContext) -> str:
    async with context.subject() as subject:
        await context.connect(subject)
        answer = await context.run_operation(subject, "close", "end")
        if answer.outcome is not Outcome.OK:
            raise CheckFailed(f"`close` failed: {answer.error}")
        code = await subject.wait_closed()
    if code != 0:
        raise CheckFailed(f"it exited with {code} after `close`; 0 is due")
    return "`close` is answered, and it exits with 0"


@_check
async def end_of_stdin(context: CheckContext) -> str:
    async with context.subject() as subject:
        await context.connect(subject)
        code = await subject.wait_closed(after="saw the end of its stdin")
    return f"it exits when its stdin ends (exit code {code})"


def _acknowledged(answer: OperationResult) -> None:
    if answer.outcome is not Outcome.OK:
        raise CheckFailed(f"a `send` failed though the broker is up: {answer.error}")


def _describe_dark(
    context: CheckContext, failed: Sequence[OperationResult | None], answers: Sequence[OperationResult]
) -> str:
    """What calls did while the broker was unreachable, as the end of a sentence. `failed` are the answers from then,
    `answers` all of them. Raises CheckFailed for a success, or an empty error."""
    if any(answer is not None and answer.outcome is Outcome.OK for answer in failed):
        raise CheckFailed("a `send` was answered `ok` though no packet reached the broker")
    errors = [answer for answer in answers if answer.outcome is not Outcome.OK]
    if not all((answer.error or "").strip() for answer in errors):
        raise CheckFailed("an `error` has no text: it should say what the client prints")
    if any(answer.error_class is None for answer in errors):
        context.notes.append("its `error` names no `class`: scenarios cannot tell one error from another by it")
    ended = f": {errors[0].error}" if errors else ""
    if None not in failed:
        longest_s = max(answer.ended_ns - answer.started_ns for answer in answers) / 1e9
        return f"failed after {longest_s:.3f} s{ended}"
    context.notes.append(
        f"it did not give up within {context.limits.dark_s:g} s: to see its error, lower its time-outs with --set,"
        " or raise --dark"
    )
    later_s = max(answer.ended_ns - context.dark_ends_ns for answer in answers) / 1e9
    return f"waited, and {'failed' if errors else 'succeeded'} {later_s:.3f} s after it ended{ended}"
