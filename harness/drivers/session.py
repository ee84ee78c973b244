"""A started subject: commands matched with answers, its trace passed on, its protocol violations reported.

Times are the subject's own if it shares the lab's clock, else the times at which the lab received its lines.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from harness.drivers.base import build_program
from harness.drivers.calls import OperationCall, OperationResult
from harness.drivers.clock import SubjectClock
from harness.drivers.errors import ProtocolViolation, SubjectError
from harness.drivers.last_words import last_words
from harness.drivers.launch import launch_record
from harness.drivers.protocol import Failed, Ok, Ready, Started, SubjectEvent, Trace, encode, parse
from harness.environments.world import LOG_LIMIT_BYTES, LogLimitExceeded, OutputBatch, OutputLine, Process, World
from harness.event import OneShotEvent
from harness.operations import OPERATIONS, ResultField
from harness.plan import RunPlan
from harness.story import EventKind, Outcome, Value

READY_LIMIT_S = 30.0
START_LIMIT_S = 30.0
"""From a command to its `started`: a subject that does not take it by then has stopped reading."""
WRITE_LIMIT_S = 5.0
CLOSE_LIMIT_S = 5.0
LINES_LIMIT = 20_000
"""Lines a second. The lab takes some 70,000: past a part of that it would be late for everything else."""
LINES_TOTAL = 1_000_000
"""Lines in one run: all are kept until its end."""
OUTPUT_LIMIT_BYTES = 32 << 20
"""In one run, as lines. As events they take several times as much memory, here and in faultlab's main process."""

EventSink = Callable[[int, str, Mapping[str, Value]], None]
"""Takes the absolute clock value, the kind and the fields of an event of the subject."""


class Subject:
    """A subject that has said `ready`. Made by `Subject.started`."""

    def __init__(self, process: Process, clock: SubjectClock, world: World, emit: EventSink, log: Path | None) -> None:
        self._process = process
        self._clock = clock
        self._world = world
        self._emit = emit
        self._log = log
        self._ending = asyncio.Lock()
        self._ended = False
        self._exit_code: int | None = None
        self._calls: dict[str, OperationCall] = {}
        self._ready = OneShotEvent()
        self._ready_received = False
        self._output_ended = False
        self._lines = 0
        self._lines_allowed = 0
        self._bytes = 0
        self._second_ends_ns = 0
        self.ready_ns = 0
        self.failure: Exception | None = None

    @classmethod
    @asynccontextmanager
    async def started(cls, plan: RunPlan, world: World, emit: EventSink, log: Path | None) -> AsyncIterator["Subject"]:
        """Start the plan's subject and wait for its `ready`; on leaving, it is ended.

        Raises SubjectError where it cannot be started or `ready` does not come within 30 s.
        """
        launch = launch_record(plan, world.advertised_address)
        clock = SubjectClock(world.now_ns())
        try:
            process = await world.start(build_program(plan, launch), log)
        except OSError as error:
            program = " ".join(plan.client.argv) or plan.client.name
            raise SubjectError(
                ProtocolViolation.NOT_STARTED, f"the subject could not be started: {program}: {error}"
            ) from error
        subject = cls(process, clock, world, emit, log)
        reading = asyncio.create_task(subject._read())
        try:
            await subject._wait_until_ready()
            yield subject
        finally:
            # A subject that still works on an operation would delay the end of the run.
            busy = subject.failure is not None or subject.has_open_operations
            await subject._end(grace_s=0.0 if busy else CLOSE_LIMIT_S)
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading

    @property
    def has_open_operations(self) -> bool:
        """Whether an operation has not been answered yet, given up or not."""
        return any(call.result is None for call in self._calls.values())

    async def call(self, operation: str, command: Mapping[str, str | int | float]) -> OperationCall:
        """Ask for an operation and wait until it has begun. Raises SubjectError, ValueError for an id used before."""
        call_id = str(command["id"])
        if call_id in self._calls:
            raise ValueError(f"two operations are called {call_id}")
        self._raise_failure()
        if self._output_ended:
            raise await self._died(f"before it said `started` for `{call_id}`")
        call = OperationCall(id=call_id, operation=operation, sent_ns=self._world.now_ns())
        self._calls[call_id] = call
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(loop.time() + WRITE_LIMIT_S):
                await self._process.write(encode(command))
        except TimeoutError:
            raise self._subject_error(
                ProtocolViolation.STOPPED_READING,
                f"did not take the command `{call_id}` from its stdin within {WRITE_LIMIT_S:g} s",
            ) from None
        except (BrokenPipeError, ConnectionResetError):
            raise await self._died(f"before it said `started` for `{call_id}`") from None
        if not await call.has_started.by(loop.time() + START_LIMIT_S):
            raise self._subject_error(
                ProtocolViolation.STOPPED_READING,
                f"did not say `started` for `{call_id}` within {START_LIMIT_S:g} s of the command: it has stopped"
                " reading its stdin, or does one operation at a time",
            )
        self._raise_failure()
        return call

    async def result_of(self, call: OperationCall, *, give_up_after_s: float) -> OperationResult:
        """The answer, or a censored one once `give_up_after_s` have passed since the call. Raises SubjectError."""
        left_s = give_up_after_s - (self._world.now_ns() - call.started_ns) / 1e9
        await call.done.by(asyncio.get_running_loop().time() + left_s)
        if call.result is not None:
            return call.result
        self._raise_failure()
        call.abandoned = True
        return self.censored_result(call)

    def censored_result(self, call: OperationCall) -> OperationResult:
        """An operation that has not ended by now."""
        return OperationResult(
            asked_ns=call.sent_ns,
            started_ns=call.started_ns,
            ended_ns=self._world.now_ns(),
            outcome=Outcome.CENSORED,
            stamped="harness" if call.subject_started_ns is None else "subject",
        )

    async def wait_closed(self, *, after: str = "answered `close`") -> int | None:
        """End its stdin and wait for the exit, due now. The exit code. Raises SubjectError where it does not come."""
        code = await self._end(grace_s=CLOSE_LIMIT_S)
        if code is None:
            raise self._subject_error(
                ProtocolViolation.IGNORES_CLOSE, f"{after} but had not exited {CLOSE_LIMIT_S:g} s later, and was killed"
            )
        return code

    async def _end(self, *, grace_s: float) -> int | None:
        async with self._ending:
            if not self._ended:
                self._exit_code = await self._process.end(grace_s=grace_s)
                self._ended = True
        return self._exit_code

    async def _wait_until_ready(self) -> None:
        if not await self._ready.by(asyncio.get_running_loop().time() + READY_LIMIT_S):
            raise self._subject_error(
                ProtocolViolation.NEVER_READY,
                f'did not say {{"ev":"ready"}} within {READY_LIMIT_S:g} s of its start: it is due before anything is'
                " constructed, and stdout must not be buffered",
            )
        self._raise_failure()

    async def _read(self) -> None:
        try:
            await self._process.subscribe(self._on_output)
            await self._take_end_of_output()
        except SubjectError as error:
            self._fail(self._subject_error(error.code, error.text))
        except LogLimitExceeded:
            text = f"wrote more than {LOG_LIMIT_BYTES >> 20} MiB on its stderr"
            self._fail(self._subject_error(ProtocolViolation.FLOODS, text))
        except ValueError:
            self._fail(self._subject_error(ProtocolViolation.GARBAGE_LINE, "said a line that is longer than 1 MiB"))
        except Exception as bug:
            # No answer can come any more: end every wait.
            self._fail(bug)
            raise

    def _on_output(self, said: OutputBatch) -> None:
        """Raises SubjectError."""
        lines, received_ns = said
        if received_ns >= self._second_ends_ns:
            self._second_ends_ns = received_ns + 1_000_000_000
            self._lines_allowed = min(self._lines + LINES_LIMIT, LINES_TOTAL)
        self._lines += len(lines)
        if self._lines > self._lines_allowed:
            raise self._flood()
        emit = self._emit
        earliest_ns, latest_ns = self._clock.trusted_window(received_ns)
        for line in lines:
            if type(line) is tuple and self._ready_received:  # nearly all of them
                at_ns, kind, fields = line
                emit(at_ns if earliest_ns <= at_ns <= latest_ns else received_ns, kind, fields)
            else:
                self._on_line(line, received_ns)
                earliest_ns, latest_ns = self._clock.trusted_window(received_ns)  # that may have been `ready`

    def _on_line(self, line: OutputLine, received_ns: int) -> None:
        if isinstance(line, bytes):
            self._bytes += len(line)
            if self._bytes > OUTPUT_LIMIT_BYTES:
                text = f"said more than {OUTPUT_LIMIT_BYTES >> 20} MiB on its stdout in one run"
                raise SubjectError(ProtocolViolation.FLOODS, text)
        event = Trace(*line) if isinstance(line, tuple) else parse(line, self._result_fields)
        if self._ready_received and isinstance(event, Trace):
            at_ns = self._clock.trusted_time(event.at_ns, received_ns)
            self._emit(received_ns if at_ns is None else at_ns, event.kind, event.fields)
        else:
            self._take(event, received_ns)

    async def _take_end_of_output(self) -> None:
        self._output_ended = True
        waiting = [call for call in self._calls.values() if call.result is None and not call.abandoned]
        if not self._ready_received:
            self._fail(await self._died("before it said `ready`"))
        elif waiting:
            has_started, name = waiting[0].start_received_ns is not None, waiting[0].id
            when = f"while `{name}` was under way" if has_started else f"before it said `started` for `{name}`"
            self._fail(await self._died(when))

    def _flood(self) -> SubjectError:
        if self._lines > LINES_TOTAL:
            return SubjectError(ProtocolViolation.FLOODS, f"said more than {LINES_TOTAL} lines in one run")
        return SubjectError(ProtocolViolation.FLOODS, f"said more than {LINES_LIMIT} lines within a second")

    def _take(self, event: SubjectEvent, received_ns: int) -> None:
        """Take anything but a trace after `ready`, which is nearly all that a subject says."""
        if isinstance(event, Ready):
            self._take_ready(event, received_ns)
        elif not self._ready_received or isinstance(event, Trace):
            raise SubjectError(ProtocolViolation.OUT_OF_ORDER, f"spoke before its `ready`: {event}")
        elif isinstance(event, Started):
            self._take_started(event, received_ns)
        else:
            self._take_answer(event, received_ns)

    def _take_ready(self, event: Ready, received_ns: int) -> None:
        if self._ready_received:
            raise SubjectError(ProtocolViolation.OUT_OF_ORDER, "said `ready` twice")
        self._ready_received = True
        self.ready_ns = received_ns
        refused = self._clock.calibrate(event.clock_ns, received_ns)
        if refused is not None:
            self._emit(received_ns, EventKind.STAMPS_REFUSED, {"text": refused})
        self._ready.set()

    def _take_started(self, event: Started, received_ns: int) -> None:
        call = self._call(event.id, "started")
        if call.start_received_ns is not None or call.result is not None:
            raise SubjectError(
                ProtocolViolation.OUT_OF_ORDER, f"said `started` for `{call.id}` twice, or after its answer"
            )
        call.start_received_ns = received_ns
        call.subject_started_ns = self._clock.trusted_time(event.at_ns, received_ns, not_before_ns=call.sent_ns)
        self._emit(call.started_ns, EventKind.OPERATION_STARTED, {"operation": call.id, "purpose": call.operation})
        call.has_started.set()

    def _take_answer(self, event: Ok | Failed, received_ns: int) -> None:
        call = self._call(event.id, "ok" if isinstance(event, Ok) else "error")
        if call.result is not None:
            raise SubjectError(ProtocolViolation.ANSWERS_TWICE, f"answered `{call.id}` twice")
        if call.start_received_ns is None:
            # Without a `started` the time of the call is only known to be after the command.
            call.start_received_ns = call.sent_ns
            self._emit(call.sent_ns, EventKind.OPERATION_STARTED, {"operation": call.id, "purpose": call.operation})
        at_ns = self._clock.trusted_time(event.at_ns, received_ns, not_before_ns=call.started_ns)
        trusted = at_ns is not None and call.subject_started_ns is not None
        outcome = Outcome.OK if isinstance(event, Ok) else Outcome.FAILED
        call.result = OperationResult(
            asked_ns=call.sent_ns,
            started_ns=call.started_ns if trusted else call.start_received_ns,
            ended_ns=at_ns if trusted and at_ns is not None else received_ns,
            outcome=outcome,
            stamped="subject" if trusted else "harness",
            error=event.error if isinstance(event, Failed) else None,
            error_class=event.error_class if isinstance(event, Failed) else None,
            result=event.result if isinstance(event, Ok) else {},
        )
        fields = {"operation": call.id, "purpose": call.operation, "outcome": outcome.value,
                  "error": call.result.error, "error_class": call.result.error_class}  # fmt: skip
        self._emit(
            call.result.ended_ns, EventKind.ANSWERED_LATE if call.abandoned else EventKind.OPERATION_ENDED, fields
        )
        call.has_started.set()
        call.done.set()

    def _call(self, call_id: str, said: str) -> OperationCall:
        call = self._calls.get(call_id)
        if call is None:
            asked = ", ".join(self._calls) or "nothing"
            raise SubjectError(
                ProtocolViolation.ANSWERS_UNKNOWN,
                f"said `{said}` for `{call_id[:200]}`, which was never asked for ({asked} was)",
            )
        return call

    def _result_fields(self, call_id: str) -> tuple[ResultField, ...]:
        call = self._calls.get(call_id)
        return OPERATIONS[call.operation].result if call is not None and call.operation in OPERATIONS else ()

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self._ready.set()
        for call in self._calls.values():
            call.has_started.set()
            call.done.set()

    def _subject_error(self, code: ProtocolViolation, text: str) -> SubjectError:
        log = f"; its log: {self._log}" if self._log is not None else ""
        return SubjectError(code, f"the subject {text}{log}")

    async def _died(self, when: str) -> SubjectError:
        code = await self._end(grace_s=1.0)
        how = "closed its output" if code is None else f"ended with exit code {code}"
        died = self._subject_error(ProtocolViolation.DIED, f"{how} {when}")
        words = "" if self._ready_received else last_words(self._log)
        return SubjectError(died.code, f"{words}: {died.text}") if words else died
