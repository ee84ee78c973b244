"""The subject as a process of the simulated world: the bundled client on a host of its own, lines in and lines out."""

import asyncio
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, Generic, TypeVar

from client.serve import serve
from harness.environments.sim.hosts import Host
from harness.environments.world import Line

T = TypeVar("T")

LINE_LIMIT_BYTES = 1 << 20


class _Pipe(Generic[T]):
    """Lines from one host to another, for one reader. `ended`: no more come, or nobody takes them."""

    def __init__(self) -> None:
        self.ended = False
        self._lines: deque[T] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._error: Exception | None = None

    def put(self, *lines: T) -> None:
        self._lines.extend(lines)
        self._wake()

    def end(self, error: Exception | None = None) -> None:
        """No more lines; the reader gets `error` after those that are there."""
        self.ended = True
        self._error = self._error or error
        self._wake()

    async def lines(self) -> AsyncIterator[T]:
        while True:
            while self._lines:
                yield self._lines.popleft()
            if self._error is not None:
                raise self._error
            if self.ended:
                return
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class SimProcess:
    """`harness.environments.world.Process`. The exit code is what `serve` returns, 1 where it raised."""

    def __init__(self, host: Host, launch: Mapping[str, object], now_ns: Callable[[], int]) -> None:
        self._host = host
        self._now_ns = now_ns
        self._stdin: _Pipe[bytes] = _Pipe()
        self._stdout: _Pipe[Line] = _Pipe()
        self._exit_code: int | None = None
        self._exited = asyncio.Event()
        host.when_killed(self._gone)
        host.spawn(self._live(launch), name="subject")

    async def _live(self, launch: Mapping[str, object]) -> None:
        self._exit_code = await self._guarded(serve(launch, self._stdin.lines(), self._say))
        self._host.kill()  # the process has ended: its kernel closes what it left open

    async def _guarded(self, serving: Coroutine[Any, Any, int]) -> int:
        try:
            return await serving
        except Exception:  # noqa: BLE001 - a process that raises ends with 1, and its log says why
            if self._host.stderr is not None:
                self._host.stderr(traceback.format_exc())
            return 1

    def _say(self, lines: bytes) -> None:
        now_ns = self._now_ns()
        *whole, _ = lines.split(b"\n")
        if len(lines) > LINE_LIMIT_BYTES and any(len(line) > LINE_LIMIT_BYTES for line in whole):
            self._stdout.end(ValueError(f"a line is longer than {LINE_LIMIT_BYTES} bytes"))
        elif not self._stdout.ended:
            self._stdout.put(*[Line(line, now_ns) for line in whole])

    def _gone(self) -> None:
        self._stdin.end()
        self._stdout.end()
        self._exited.set()

    # The harness' side.

    def lines(self) -> AsyncIterator[Line]:
        return self._stdout.lines()

    async def write(self, line: bytes) -> None:
        if self._stdin.ended:
            raise BrokenPipeError("the subject reads no more")
        self._stdin.put(line)

    async def end(self, *, grace_s: float) -> int | None:
        self._stdin.end()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(loop.time() + grace_s):
                await self._exited.wait()
        except TimeoutError:
            self._host.kill()
        return self._exit_code
