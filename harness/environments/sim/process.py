"""The subject as a process of the simulated world: the bundled client on a host of its own, lines in and lines out.

Its lines are handed over as objects: writing and reading JSON would take longer than the run itself.
"""

import asyncio
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from client.serve import Event, serve
from harness.environments.sim.hosts import Host
from harness.environments.world import OutputBatch
from harness.event import OneShotEvent


class _Input:
    """The subject's stdin: from the harness, for one reader. `ended`: no more input comes, or none is read.

    Not a generator: the loop would close one while its reader, cancelled at the process' end, is still inside of it.
    """

    def __init__(self) -> None:
        self.ended = False
        self._inside: deque[bytes] = deque()
        self._reader: asyncio.Future[None] | None = None

    def __aiter__(self) -> "_Input":
        return self

    async def __anext__(self) -> bytes:
        while not self._inside:
            if self.ended:
                raise StopAsyncIteration
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
            self._reader = None
        return self._inside.popleft()

    def put(self, line: bytes) -> None:
        self._inside.append(line)
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class _Output:
    """The subject's stdout: handed over in the call that writes it: waking a task for each line would take longer than
    handling it."""

    def __init__(self) -> None:
        self._inside: list[OutputBatch] = []
        self._ended = False
        self._on_output: Callable[[OutputBatch], None] | None = None
        self._over: asyncio.Future[None] | None = None

    def put(self, batch: OutputBatch) -> None:
        if not self._ended:
            self._inside.append(batch)
            self._hand_over()

    def end(self) -> None:
        self._ended = True
        self._hand_over()

    async def subscribe(self, on_output: Callable[[OutputBatch], None]) -> None:
        self._on_output, self._over = on_output, asyncio.get_running_loop().create_future()
        self._hand_over()
        try:
            await self._over
        finally:
            self._on_output = self._over = None

    def _hand_over(self) -> None:
        on_output, over = self._on_output, self._over
        if on_output is None or over is None or over.done():
            return
        inside, self._inside = self._inside, []
        try:
            for batch in inside:
                on_output(batch)
        except Exception as failed:  # noqa: BLE001 - raised by the subscriber, and raised there again
            over.set_exception(failed)
        else:
            if self._ended:
                over.set_result(None)


class SimProcess:
    """`harness.environments.world.Process`. The exit code is what `serve` returns, 1 where it raised."""

    def __init__(self, host: Host, launch: Mapping[str, object], now_ns: Callable[[], int]) -> None:
        self._host = host
        self._now_ns = now_ns
        self._stdin = _Input()
        self._stdout = _Output()
        self._exit_code: int | None = None
        self._exited = OneShotEvent()
        host.on_killed(self._gone)
        host.spawn(self._live(launch), name="subject")

    async def _live(self, launch: Mapping[str, object]) -> None:
        self._exit_code = await self._guarded(serve(launch, self._stdin, self._write_lines))
        self._host.kill()  # the process has ended: its kernel closes what it left open

    async def _guarded(self, serving: Coroutine[Any, Any, int]) -> int:
        try:
            return await serving
        except Exception:  # noqa: BLE001 - a process that raises ends with 1, and its log says why
            if self._host.stderr is not None:
                self._host.stderr(traceback.format_exc())
            return 1

    def _write_lines(self, events: list[Event]) -> None:
        self._stdout.put(OutputBatch(events, self._now_ns()))

    def _gone(self) -> None:
        self._stdin.end()
        self._stdout.end()
        self._exited.set()

    # The harness' side.

    async def subscribe(self, on_output: Callable[[OutputBatch], None]) -> None:
        await self._stdout.subscribe(on_output)

    async def write(self, line: bytes) -> None:
        if self._stdin.ended:
            raise BrokenPipeError("the subject reads no more")
        self._stdin.put(line)

    async def end(self, *, grace_s: float) -> int | None:
        self._stdin.end()
        if not await self._exited.by(asyncio.get_running_loop().time() + grace_s):
            self._host.kill()
        return self._exit_code
