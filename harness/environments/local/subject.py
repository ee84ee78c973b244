"""A subject as a process: lines in, lines out, its standard error in a log."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path

from client.process import run_pipes
from harness.environments.local.children import ChildFiles, ChildProcess, execute, fork
from harness.environments.local.lines import LineReader, open_reader, open_writer
from harness.environments.local.log_limit import LogLimit
from harness.environments.local.subject_environment import subject_environment
from harness.environments.world import (
    LOG_LIMIT_BYTES,
    BundledClient,
    Executable,
    LogLimitExceeded,
    OutputBatch,
    Program,
)

_LAUNCH = "FAULTLAB_SUBJECT"

_USUAL_PIPE_BYTES = 1 << 16
_LARGEST_PIPE_BYTES = 1 << 20
"""What Linux grants to everybody (/proc/sys/fs/pipe-max-size)."""


class SubjectProcess:
    """`harness.environments.world.Process` over two pipes."""

    def __init__(
        self,
        child: ChildProcess,
        output: LineReader,
        stdin: asyncio.StreamWriter,
        started: Callable[[], None],
        *,
        log: int | None,
        leads_group: bool,
    ) -> None:
        self._limit = None if log is None else LogLimit(log, self._kill)
        self._started = started
        self._child = child
        self._output = output
        self._stdin = stdin
        self._leads_group = leads_group

    @property
    def pid(self) -> int:
        return self._child.pid

    async def subscribe(self, on_output: Callable[[OutputBatch], None]) -> None:
        async for batch in self.lines():
            on_output(batch)

    async def lines(self) -> AsyncIterator[OutputBatch]:
        """What `subscribe` hands over, one by one."""
        first = True
        async for line in self._output.lines():
            if first:
                first = False
                self._started()
            yield OutputBatch((line.text,), line.received_ns)
        if self._limit is not None and self._limit.exceeded:
            raise LogLimitExceeded(f"more than {LOG_LIMIT_BYTES} bytes in its log")

    async def write(self, line: bytes) -> None:
        if self._stdin.transport.is_closing():
            raise BrokenPipeError("the subject reads no more")
        if len(line) >= _USUAL_PIPE_BYTES:
            self._make_room(len(line) + 1)
        self._stdin.write(line + b"\n")
        try:
            await self._stdin.drain()
        except ConnectionResetError as exc:
            raise BrokenPipeError("the subject reads no more") from exc

    def _make_room(self, size_bytes: int) -> None:
        """A large message goes at once: 64 KiB at a time, both processes in turn, it takes tens of milliseconds, while
        which a fault or the client's own timers go on. Where the kernel grants no larger pipe, it takes that time."""
        with suppress(OSError):
            fcntl(self._stdin.get_extra_info("pipe").fileno(), F_SETPIPE_SZ, min(size_bytes, _LARGEST_PIPE_BYTES))

    async def end(self, *, grace_s: float) -> int | None:
        try:
            return await self._end(grace_s)
        finally:
            if self._limit is not None:
                self._limit.end()

    async def _end(self, grace_s: float) -> int | None:
        if not self._stdin.transport.is_closing():
            # What it has not read by now is of no use to it.
            self._stdin.transport.abort()
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + grace_s):
                return await self._child.wait()
        except TimeoutError:
            self._kill()
            await self._child.wait()
            return None

    def _kill(self) -> None:
        self._child.kill(whole_group=self._leads_group)


async def start(program: Program, log: Path | None, started: Callable[[], None]) -> SubjectProcess:
    """Start a subject, its standard error appended to `log`; `started` is called when it has written its first line.

    Raises OSError where it cannot be executed.
    """
    their_stdin, our_stdin = os.pipe()
    our_stdout, their_stdout = os.pipe()
    stderr = os.open(os.devnull if log is None else log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    looked_at = None if log is None else os.dup(stderr)
    files = ChildFiles(stdin=their_stdin, stdout=their_stdout, stderr=stderr)
    try:
        child = _started(program, files)
    except OSError:
        for number in (our_stdin, our_stdout, *(() if looked_at is None else (looked_at,))):
            os.close(number)
        raise
    finally:
        for number in (their_stdin, their_stdout, stderr):
            os.close(number)
    return SubjectProcess(
        child,
        await open_reader(our_stdout),
        await open_writer(our_stdin),
        started,
        log=looked_at,
        leads_group=isinstance(program, Executable),
    )


def _started(program: Program, files: ChildFiles) -> ChildProcess:
    match program:
        case BundledClient(launch=launch):
            return fork("subject", lambda: _serve(launch), files)
        case Executable(argv=argv, launch=launch, pass_env=named):
            environment = subject_environment(os.environ, named)
            return execute("subject", argv, {**environment, _LAUNCH: json.dumps(launch)}, files)


def _serve(launch: Mapping[str, object]) -> int:
    """The bundled client, in its own process, over its standard streams."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return run_pipes(launch, 0, 1)
