"""The bundled client as a subject: docs/SUBJECT_PROTOCOL.md over lines that the caller provides and takes.

It runs as tasks of the caller's loop, in a simulation or alone in a process (`client.process`), and waits for nothing
but that loop: no thread, no blocking call.
"""

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from random import Random
from typing import Any

from pydantic_core import from_json

from client.errors import ClientError, SettingError, without_traceback
from client.events import Tracer, TraceValue
from client.golang.scheduler import Scheduler, start_scheduler
from client.launch import LaunchError, LaunchRecord, parse_launch_record
from client.net.resolver import TableResolver
from client.operations import CommandError, Context, Handler, Result
from client.profiles import Profile, check_release, profile
from client.profiles.contract import ProfileSession
from client.runtime import ClientRuntime
from client.tasks import BackgroundTasks

EXIT_USAGE = 4
_LAST_ANSWERS_S = 0.05
"""How long operations that closing has ended may take to answer."""
EXIT_INTERNAL_ERROR = 70
"""Exit codes: a launch record that cannot be followed; an error in this program."""

LOG = logging.getLogger("faultlab.client")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

TraceTuple = tuple[int, str, dict[str, TraceValue]]
"""at_ns, kind and fields of a trace event, which nearly every line is."""

Event = dict[str, Any] | TraceTuple
"""What a line says (docs/SUBJECT_PROTOCOL.md), by name or as a trace tuple. The receiver may change it."""

Write = Callable[[list[Event]], None]
Log = Callable[[str], None]


def event_to_dict(event: Event) -> dict[str, Any]:
    """What a line says by name: texts, numbers and None."""
    if isinstance(event, dict):
        return event
    at_ns, kind, fields = event
    return {"ev": "trace", "at_ns": at_ns, "kind": kind, **fields}


async def serve(launch: Mapping[str, object], lines: AsyncIterator[bytes], write: Write, log: Log = LOG.error) -> int:
    """Be a subject until its client is closed, the lines end, or `write` fails. Returns the exit code.

    `write` takes events in order, each of them a line, without waiting for the reader; it raises OSError where the
    reader is gone. `log` gets what belongs on stderr.
    """
    try:
        wanted = parse_launch_record(launch)
        one = profile(wanted.client)
        check_release(one, wanted.version)
        one.check_producer(wanted.producer)
    except (LaunchError, SettingError) as wrong:
        log(f"FAULTLAB_SUBJECT: {wrong}")
        return EXIT_USAGE
    one.prepare()
    return await _Subject(wanted, one, write, log).run(lines)


class _Exit:
    """How the subject ends: `code` is its exit code, once that is decided."""

    def __init__(self, log: Log) -> None:
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._log = log

    def set_code(self, code: int) -> None:
        if not self.code.done():
            self.code.set_result(code)

    def output_failed(self, gone: OSError) -> None:
        if not self.code.done():
            self._log(f"nobody reads our events any more: {gone}")
            self.set_code(1)

    def task_failed(self, panic: BaseException) -> None:
        self._log("".join(traceback.format_exception(panic)))
        self.set_code(EXIT_INTERNAL_ERROR)


class _Outbox:
    """Events to be written, in order. Those of one moment are written together, once all of them have happened.

    That is when no goroutine has a step to do: who reads that an operation has begun may give the next one at once, and
    on busy processors runs before this process does again. The first one's request is then on its way, as with Go.
    """

    def __init__(self, write: Write, on_write_error: Callable[[OSError], None], scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._write = write
        self._on_write_error = on_write_error
        self._loop = asyncio.get_running_loop()
        self._events: list[Event] = []

    def put(self, event: Event) -> None:
        if not self._events:
            self._loop.call_at(self._loop.time(), self._flush_at_rest)
        self._events.append(event)

    def trace(self, at_ns: int, kind: str, fields: dict[str, TraceValue]) -> None:
        """`put` for a Tracer."""
        if not self._events:
            self._loop.call_at(self._loop.time(), self._flush_at_rest)
        self._events.append((at_ns, kind, fields))

    def _flush_at_rest(self) -> None:
        if self._scheduler.has_work:
            self._loop.call_at(self._loop.time(), self._flush_at_rest)
        else:
            self.flush()

    def flush(self) -> None:
        """Write what has not gone out yet."""
        if self._events:
            events, self._events = self._events, []
            try:
                self._write(events)
            except OSError as gone:
                self._on_write_error(gone)


class _Subject:
    def __init__(self, launch: LaunchRecord, profile: Profile, write: Write, log: Log) -> None:
        self._launch = launch
        self._profile = profile
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._exit = _Exit(log)
        scheduler = start_scheduler(launch.seed + 1)  # not the client's own chance once more
        self._outbox = _Outbox(write, self._exit.output_failed, scheduler)
        self._commands = BackgroundTasks(self._exit.task_failed)  # begin in the order in which they were read
        self._goroutines = BackgroundTasks(self._exit.task_failed, scheduler.start)
        rng, ask = Random(launch.seed), profile.resolver
        self._runtime = ClientRuntime(
            rng,
            TableResolver() if launch.name_server is None or ask is None else ask(launch.name_server, rng),
            Tracer(self._loop.time, self._outbox.trace),
            tasks=self._goroutines,
            ca_pem=launch.ca_pem,
            credentials=launch.credentials,
        )
        self._session: ProfileSession | None = None
        self._used_ids: dict[str, None] = {}
        self._calls: dict[str, Context] = {}

    async def run(self, lines: AsyncIterator[bytes]) -> int:
        self._outbox.put({"ev": "ready", "clock_ns": self._now_ns()})
        self._commands.go(self._read_commands(lines), "subject/commands")
        try:
            return await self._exit.code
        finally:
            for context in self._calls.values():
                context.cancellation.cancel()
            self._commands.cancel_all()
            self._goroutines.cancel_all()
            self._outbox.flush()

    async def _read_commands(self, lines: AsyncIterator[bytes]) -> None:
        try:
            async for line in lines:
                if line.strip():
                    self._handle_command(line)
        except ValueError as wrong:
            self._log(f"commands cannot be read: {wrong}")
            self._exit.set_code(EXIT_USAGE)
        self._exit.set_code(0)

    def _now_ns(self) -> int:
        return round(self._loop.time() * 1e9)

    # Commands.

    def _handle_command(self, line: bytes) -> None:
        try:
            command = from_json(line)
        except ValueError as wrong:
            self._reject(f"a command is a JSON object in a line: {wrong}")
            return
        if not isinstance(command, dict):
            self._reject(f"a command is a JSON object, not {_encode(command)[:80]}")
            return
        name = command.get("id")
        if not isinstance(name, str) or not name:
            self._reject(f"a command's id is a text, not {_encode(name)[:80]}")
            return
        if name in self._used_ids:
            self._reject(f"the id {name} was used before")
            return
        self._used_ids[name] = None
        self._commands.go(self._execute(name, command), f"subject/{name}")

    def _reject(self, why: str) -> None:
        """A line that names no operation which could be answered."""
        self._outbox.put({"ev": "error", "id": None, "at_ns": self._now_ns(), "error": why, "class": "CommandError"})

    async def _execute(self, name: str, command: Mapping[str, object]) -> None:
        self._outbox.put({"ev": "started", "id": name, "at_ns": self._now_ns()})
        answer: dict[str, TraceValue] = {"ev": "ok", "id": name}
        try:
            answer |= await self._carry_out(name, command)
        except ClientError as failed:
            answer = {"ev": "error", "id": name, "error": failed.text, "class": failed.name}
            without_traceback(failed)  # the producer may keep it
        except (CommandError, SettingError) as wrong:
            answer = {"ev": "error", "id": name, "error": str(wrong), "class": type(wrong).__name__}
        self._outbox.put({**answer, "at_ns": self._now_ns()})
        if self._session is not None and self._session.handles.closed:
            # What closing has ended is still to be answered, by tasks that have not run yet.
            self._loop.call_later(_LAST_ANSWERS_S if self._calls else 0.0, self._exit.set_code, 0)

    async def _carry_out(self, name: str, command: Mapping[str, object]) -> Result:
        """Raises ClientError, CommandError and SettingError, of which the command's answer is made."""
        operation, handler = self._handler(command.get("op"))
        try:
            context = Context(name, self._runtime.tracer, self._deadline_at(operation, command.get("deadline_s")))
            self._calls[name] = context
            return await handler(command, context)
        except CommandError as wrong:
            raise CommandError(f"{operation}: {wrong}") from wrong
        finally:
            self._calls.pop(name, None)

    def _handler(self, operation: object) -> tuple[str, Handler]:
        if self._session is None:
            given = self._profile.with_credentials(self._launch.settings, self._launch.credentials)
            settings = self._profile.settings.resolve(given, self._launch.version)
            self._session = self._profile.open(
                self._runtime, settings, self._launch.bootstrap, producer=self._launch.producer
            )
        handlers = self._session.handlers
        if not isinstance(operation, str) or operation not in handlers:
            *others, last = handlers
            raise CommandError(f"op is {', '.join(others)} or {last}, not {_encode(operation)[:80]}")
        return operation, handlers[operation]

    def _deadline_at(self, operation: str, deadline_s: object) -> float | None:
        if deadline_s is None:
            return None
        refusal = self._profile.no_deadline.get(operation)
        if refusal is not None:
            raise CommandError(f"the {operation} of {self._profile.name} takes no deadline: {refusal}")
        if not isinstance(deadline_s, int | float) or isinstance(deadline_s, bool) or deadline_s < 0:
            raise CommandError("deadline_s is no number of seconds from 0")
        return self._loop.time() + deadline_s
