"""The subject as a process of the simulated world: the bundled client on a host of its own, lines in and lines out.

Its lines are not spelt out: nobody could tell, and to write and read JSON takes longer than what they tell of.
"""

import asyncio
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, Generic, TypeVar

from client.serve import Event, serve
from harness.environments.sim.hosts import Host
from harness.environments.world import Said
from harness.once import Once

T = TypeVar("T")


class _Pipe(Generic[T]):
    """From one host to another, for one reader. `ended`: no more comes, or nobody takes it."""

    def __init__(self) -> None:
        self.ended = False
        self._inside: deque[T] = deque()
        self._reader: asyncio.Future[None] | None = None

    def put(self, one: T) -> None:
        self._inside.append(one)
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._wake()

    async def read(self) -> AsyncIterator[T]:
        while True:
            while self._inside:
                yield self._inside.popleft()
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
        self._stdout: _Pipe[Said] = _Pipe()
        self._exit_code: int | None = None
        self._exited = Once()
        host.when_killed(self._gone)
        host.spawn(self._live(launch), name="subject")

    async def _live(self, launch: Mapping[str, object]) -> None:
        self._exit_code = await self._guarded(serve(launch, self._stdin.read(), self._say))
        self._host.kill()  # the process has ended: its kernel closes what it left open

    async def _guarded(self, serving: Coroutine[Any, Any, int]) -> int:
        try:
            return await serving
        except Exception:  # noqa: BLE001 - a process that raises ends with 1, and its log says why
            if self._host.stderr is not None:
                self._host.stderr(traceback.format_exc())
            return 1

    def _say(self, events: list[Event]) -> None:
        if not self._stdout.ended:
            self._stdout.put(Said(events, self._now_ns()))

    def _gone(self) -> None:
        self._stdin.end()
        self._stdout.end()
        self._exited.set()

    # The harness' side.

    def lines(self) -> AsyncIterator[Said]:
        return self._stdout.read()

    async def write(self, line: bytes) -> None:
        if self._stdin.ended:
            raise BrokenPipeError("the subject reads no more")
        self._stdin.put(line)

    async def end(self, *, grace_s: float) -> int | None:
        self._stdin.end()
        if not await self._exited.by(asyncio.get_running_loop().time() + grace_s):
            self._host.kill()
        return self._exit_code
