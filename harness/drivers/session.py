"""A started subject and the conversation with it: commands matched with answers, its trace passed on, its sins named.

Times are the subject's own where it shares the lab's clock, else those at which the lab had its lines.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from harness.drivers.base import program_of
from harness.drivers.calls import Answer, Call
from harness.drivers.errors import Fault, SubjectError
from harness.drivers.launch import launch_record
from harness.drivers.protocol import Event, Failed, Ok, Ready, Started, Trace, encode, parse
from harness.drivers.stamps import Stamps
from harness.environments.world import LOG_LIMIT_BYTES, Line, LogFlooded, Process, Said, World
from harness.once import Once
from harness.plan import RunPlan
from harness.story import Outcome, Told, Value

READY_LIMIT_S = 30.0
START_LIMIT_S = 30.0
"""From a command to its `started`: a subject that does not take it by then has stopped reading."""
WRITE_LIMIT_S = 5.0
CLOSE_LIMIT_S = 5.0
LINES_LIMIT = 20_000
"""Lines a second. The lab takes some 70,000: past a part of that it would be late for everything else."""
LINES_TOTAL = 1_000_000
"""Lines in one run: all are kept until its end."""

Tell = Callable[[int, str, Mapping[str, Value]], None]
"""Takes the absolute clock value, the kind, the fields of something that the subject did."""


class Subject:
    """A subject that has said `ready`. Made by `Subject.started`."""

    def __init__(self, process: Process, stamps: Stamps, world: World, tell: Tell, log: Path | None) -> None:
        self._process = process
        self._stamps = stamps
        self._world = world
        self._tell = tell
        self._log = log
        self._ending = asyncio.Lock()
        self._ended = False
        self._exit_code: int | None = None
        self._calls: dict[str, Call] = {}
        self._ready = Once()
        self._ready_said = False
        self._output_ended = False
        self._lines = 0
        self._lines_allowed = 0
        self._second_ends_ns = 0
        self.ready_ns = 0
        self.failure: Exception | None = None

    @classmethod
    @asynccontextmanager
    async def started(cls, plan: RunPlan, world: World, tell: Tell, log: Path | None) -> AsyncIterator["Subject"]:
        """Start the plan's subject and wait for its `ready`; on leaving, it is ended.

        Raises SubjectError where it cannot be started or `ready` does not come within 30 s.
        """
        launch = launch_record(plan, world.address_of)
        stamps = Stamps(world.now_ns())
        try:
            process = await world.start(program_of(plan, launch), log)
        except OSError as error:
            program = " ".join(plan.client.argv) or plan.client.name
            raise SubjectError(Fault.NOT_STARTED, f"the subject could not be started: {program}: {error}") from error
        subject = cls(process, stamps, world, tell, log)
        reading = asyncio.create_task(subject._read())
        try:
            await subject._until_ready()
            yield subject
        finally:
            # One that still works on something would only keep the run waiting.
            busy = subject.failure is not None or subject.under_way
            await subject._end(grace_s=0.0 if busy else CLOSE_LIMIT_S)
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading

    @property
    def under_way(self) -> bool:
        """Whether an operation has not been answered yet, given up or not."""
        return any(call.answer is None for call in self._calls.values())

    async def call(self, operation: str, command: Mapping[str, str | int | float]) -> Call:
        """Ask for an operation and wait until it has begun. Raises SubjectError, ValueError for an id used before."""
        call_id = str(command["id"])
        if call_id in self._calls:
            raise ValueError(f"two operations are called {call_id}")
        self._check()
        if self._output_ended:
            raise await self._died(f"before it said `started` for `{call_id}`")
        call = Call(id=call_id, operation=operation, sent_ns=self._world.now_ns())
        self._calls[call_id] = call
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(loop.time() + WRITE_LIMIT_S):
                await self._process.write(encode(command))
        except TimeoutError:
            raise self._wrong(
                Fault.STOPPED_READING, f"did not take the command `{call_id}` from its stdin within {WRITE_LIMIT_S:g} s"
            ) from None
        except (BrokenPipeError, ConnectionResetError):
            raise await self._died(f"before it said `started` for `{call_id}`") from None
        if not await call.begun.by(loop.time() + START_LIMIT_S):
            raise self._wrong(
                Fault.STOPPED_READING,
                f"did not say `started` for `{call_id}` within {START_LIMIT_S:g} s of the command: it has stopped"
                " reading its stdin, or does one operation at a time",
            )
        self._check()
        return call

    async def answer(self, call: Call, *, give_up_after_s: float) -> Answer:
        """The answer, or a censored one once `give_up_after_s` have passed since the call. Raises SubjectError."""
        left_s = give_up_after_s - (self._world.now_ns() - call.started_ns) / 1e9
        await call.done.by(asyncio.get_running_loop().time() + left_s)
        if call.answer is not None:
            return call.answer
        self._check()
        call.given_up = True
        return self.censored(call)

    def censored(self, call: Call) -> Answer:
        """An operation that has not ended by now."""
        return Answer(
            asked_ns=call.sent_ns,
            started_ns=call.started_ns,
            ended_ns=self._world.now_ns(),
            outcome=Outcome.CENSORED,
            stamped="harness" if call.begun_at_ns is None else "subject",
        )

    async def closed(self, *, after: str = "answered `close`") -> int | None:
        """End its stdin and wait for the exit, due now. The exit code. Raises SubjectError where it does not come."""
        code = await self._end(grace_s=CLOSE_LIMIT_S)
        if code is None:
            raise self._wrong(
                Fault.IGNORES_CLOSE, f"{after} but had not exited {CLOSE_LIMIT_S:g} s later, and was killed"
            )
        return code

    async def _end(self, *, grace_s: float) -> int | None:
        async with self._ending:
            if not self._ended:
                self._exit_code = await self._process.end(grace_s=grace_s)
                self._ended = True
        return self._exit_code

    async def _until_ready(self) -> None:
        if not await self._ready.by(asyncio.get_running_loop().time() + READY_LIMIT_S):
            raise self._wrong(
                Fault.NEVER_READY,
                f'did not say {{"ev":"ready"}} within {READY_LIMIT_S:g} s of its start: it is due before anything is'
                " constructed, and stdout must not be buffered",
            )
        self._check()

    async def _read(self) -> None:
        try:
            await self._process.heard_by(self._hear)
            await self._take_end_of_output()
        except SubjectError as error:
            self._fail(self._wrong(error.code, error.text))
        except LogFlooded:
            told = f"wrote more than {LOG_LIMIT_BYTES >> 20} MiB on its stderr"
            self._fail(self._wrong(Fault.FLOODS, told))
        except ValueError:
            self._fail(self._wrong(Fault.GARBAGE_LINE, "said a line that is longer than 1 MiB"))
        except Exception as bug:
            # Whoever waits for an answer would wait in vain.
            self._fail(bug)
            raise

    def _hear(self, said: Said) -> None:
        """Raises SubjectError."""
        lines, received_ns = said
        if received_ns >= self._second_ends_ns:
            self._second_ends_ns = received_ns + 1_000_000_000
            self._lines_allowed = min(self._lines + LINES_LIMIT, LINES_TOTAL)
        self._lines += len(lines)
        if self._lines > self._lines_allowed:
            raise self._flood()
        tell = self._tell
        earliest_ns, latest_ns = self._stamps.credible(received_ns)
        for line in lines:
            if type(line) is tuple and self._ready_said:  # nearly all of them
                at_ns, kind, fields = line
                tell(at_ns if earliest_ns <= at_ns <= latest_ns else received_ns, kind, fields)
            else:
                self._hear_line(line, received_ns)
                earliest_ns, latest_ns = self._stamps.credible(received_ns)  # that may have been `ready`

    def _hear_line(self, line: Line, received_ns: int) -> None:
        event = Trace(*line) if isinstance(line, tuple) else parse(line)
        if self._ready_said and isinstance(event, Trace):
            at_ns = self._stamps.believed(event.at_ns, received_ns)
            self._tell(received_ns if at_ns is None else at_ns, event.kind, event.fields)
        else:
            self._take(event, received_ns)

    async def _take_end_of_output(self) -> None:
        self._output_ended = True
        waiting = [call for call in self._calls.values() if call.answer is None and not call.given_up]
        if not self._ready_said:
            self._fail(await self._died("before it said `ready`"))
        elif waiting:
            begun, name = waiting[0].begun_received_ns is not None, waiting[0].id
            when = f"while `{name}` was under way" if begun else f"before it said `started` for `{name}`"
            self._fail(await self._died(when))

    def _flood(self) -> SubjectError:
        if self._lines > LINES_TOTAL:
            return SubjectError(Fault.FLOODS, f"said more than {LINES_TOTAL} lines in one run")
        return SubjectError(Fault.FLOODS, f"said more than {LINES_LIMIT} lines within a second")

    def _take(self, event: Event, received_ns: int) -> None:
        """Take anything but a trace after `ready`, which is nearly all that a subject says."""
        if isinstance(event, Ready):
            self._take_ready(event, received_ns)
        elif not self._ready_said or isinstance(event, Trace):
            raise SubjectError(Fault.OUT_OF_ORDER, f"spoke before its `ready`: {event}")
        elif isinstance(event, Started):
            self._take_started(event, received_ns)
        else:
            self._take_answer(event, received_ns)

    def _take_ready(self, event: Ready, received_ns: int) -> None:
        if self._ready_said:
            raise SubjectError(Fault.OUT_OF_ORDER, "said `ready` twice")
        self._ready_said = True
        self.ready_ns = received_ns
        refused = self._stamps.compare(event.clock_ns, received_ns)
        if refused is not None:
            self._tell(received_ns, Told.STAMPS_REFUSED, {"text": refused})
        self._ready.set()

    def _take_started(self, event: Started, received_ns: int) -> None:
        call = self._call(event.id, "started")
        if call.begun_received_ns is not None or call.answer is not None:
            raise SubjectError(Fault.OUT_OF_ORDER, f"said `started` for `{call.id}` twice, or after its answer")
        call.begun_received_ns = received_ns
        call.begun_at_ns = self._stamps.believed(event.at_ns, received_ns, not_before_ns=call.sent_ns)
        self._tell(call.started_ns, Told.OPERATION_STARTED, {"operation": call.id, "purpose": call.operation})
        call.begun.set()

    def _take_answer(self, event: Ok | Failed, received_ns: int) -> None:
        call = self._call(event.id, "ok" if isinstance(event, Ok) else "error")
        if call.answer is not None:
            raise SubjectError(Fault.ANSWERS_TWICE, f"answered `{call.id}` twice")
        if call.begun_received_ns is None:
            # Without a `started` the call was made at some time after the command: its time is the lab's.
            call.begun_received_ns = call.sent_ns
            self._tell(call.sent_ns, Told.OPERATION_STARTED, {"operation": call.id, "purpose": call.operation})
        at_ns = self._stamps.believed(event.at_ns, received_ns, not_before_ns=call.started_ns)
        own = at_ns is not None and call.begun_at_ns is not None
        outcome = Outcome.OK if isinstance(event, Ok) else Outcome.FAILED
        call.answer = Answer(
            asked_ns=call.sent_ns,
            started_ns=call.started_ns if own else call.begun_received_ns,
            ended_ns=at_ns if own and at_ns is not None else received_ns,
            outcome=outcome,
            stamped="subject" if own else "harness",
            error=event.error if isinstance(event, Failed) else None,
            error_class=event.error_class if isinstance(event, Failed) else None,
            partition=event.partition if isinstance(event, Ok) else None,
            offset=event.offset if isinstance(event, Ok) else None,
        )
        fields = {"operation": call.id, "purpose": call.operation, "outcome": outcome.value,
                  "error": call.answer.error, "error_class": call.answer.error_class}  # fmt: skip
        self._tell(call.answer.ended_ns, Told.ANSWERED_LATE if call.given_up else Told.OPERATION_ENDED, fields)
        call.begun.set()
        call.done.set()

    def _call(self, call_id: str, said: str) -> Call:
        call = self._calls.get(call_id)
        if call is None:
            asked = ", ".join(self._calls) or "nothing"
            raise SubjectError(
                Fault.ANSWERS_UNKNOWN, f"said `{said}` for `{call_id[:200]}`, which was never asked for ({asked} was)"
            )
        return call

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self._ready.set()
        for call in self._calls.values():
            call.begun.set()
            call.done.set()

    def _wrong(self, code: Fault, text: str) -> SubjectError:
        log = f"; its log: {self._log}" if self._log is not None else ""
        return SubjectError(code, f"the subject {text}{log}")

    async def _died(self, when: str) -> SubjectError:
        code = await self._end(grace_s=1.0)
        how = "closed its output" if code is None else f"ended with exit code {code}"
        return self._wrong(Fault.DIED, f"{how} {when}")
