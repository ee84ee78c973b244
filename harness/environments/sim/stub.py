"""One toxic on one direction of one connection: runs the toxic's pipe, which it can interrupt and run anew.

It waits as Go does. The runtime sleeps in epoll_wait, in whole milliseconds: rounded down, but for one at least, until
nothing is left. So a timer that has the process for itself fires at the first whole millisecond. Left out: where
another one fires meanwhile, the runtime counts anew from there; and that each epoll_wait takes 0.05 to 0.15 ms longer.
Source: Shopify/toxiproxy v2.12.0 toxics/toxic.go (ToxicStub); Go 1.26 src/runtime/netpoll_epoll.go (netpoll).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from harness.environments.sim.toxics import ELAPSED, Chunk, Pipe, SimToxic, Wait


def _slept_s(seconds: float) -> float:
    """How long Go waits for a timer of so many seconds, which are whole nanoseconds."""
    return -(-round(seconds * 1e9) // 1_000_000) / 1000


class ChunkSink(Protocol):
    """Where a stub's chunks go: the next stub, or the socket."""

    def take(self, chunk: Chunk) -> None: ...

    def finish(self) -> None:
        """No more chunks come."""


class Stub:
    """Made idle: `run` starts the toxic's pipe. `on_released` is called when chunks have left by a timer."""

    def __init__(self, toxic: SimToxic, downstream: ChunkSink, on_released: Callable[[], None]) -> None:
        self.toxic = toxic
        self.downstream = downstream
        self.closed = False
        self.passed_bytes = 0
        self.deaf_until_s: float | None = None
        self._on_released = on_released
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[Chunk] = deque()
        self._finished = False
        self._pipe: Pipe | None = None
        self._wait: Wait | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def now_s(self) -> float:
        return self._loop.time()

    @property
    def room(self) -> int:
        """How many more chunks it takes. A closed one has its buffer left."""
        if self.closed:
            return self.toxic.buffer - len(self._chunks)
        busy = self._wait is not None and not self._wait.input
        return self.toxic.buffer + 1 - len(self._chunks) - busy

    def run(self) -> None:
        """Run the toxic, or run it anew: chance decides anew whether it has an effect."""
        if not self.closed:
            self._pipe = self.toxic.run(self)
            self._advance(None)

    def interrupt(self) -> None:
        """End the pipe; what it has in hand is passed on at once. Not for one that is deaf."""
        self._stop_waiting()
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()

    def flush(self) -> None:
        """The interrupted toxic is removed: what waits for it is passed on at once."""
        while self._chunks:
            self.downstream.take(self._chunks.popleft())
        if self._finished:
            self.close()

    def discard(self) -> None:
        """Both connections are closed: drop what is inside."""
        self._stop_waiting()
        self._chunks.clear()
        self._pipe = None
        self.closed = True

    # What the stub before it, or the link, does.

    def take(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        if not self.closed:
            self._offer()

    def finish(self) -> None:
        self._finished = True
        self._offer()

    # What the pipe does.

    def output(self, chunk: Chunk) -> None:
        if chunk.data:
            self.downstream.take(chunk)

    def close(self) -> None:
        """What waits for it stays where it is, and passes no more."""
        if not self.closed:
            self.closed = True
            self._stop_waiting()
            self.downstream.finish()

    def _offer(self) -> None:
        if self._wait is not None and self._wait.input:
            self._stop_waiting()
            self._advance(self._chunks.popleft() if self._chunks else None)

    def _advance(self, event: Chunk | None) -> None:
        """Let the pipe go on until it waits for what has not come yet."""
        pipe = self._pipe
        while pipe is not None and pipe is self._pipe:
            try:
                wait = pipe.send(event)
            except StopIteration:
                self._pipe = None
                return
            if self.closed:
                return
            if wait.input and (self._chunks or self._finished):
                event = self._chunks.popleft() if self._chunks else None
            elif wait.seconds is not None and wait.seconds <= 0:
                event = ELAPSED
            else:
                self._begin(wait)
                return

    def _begin(self, wait: Wait) -> None:
        self._wait = wait
        if wait.seconds is not None:
            due_s = self._loop.time() + _slept_s(wait.seconds)
            self._timer = self._loop.call_at(due_s, self._elapsed)
            self.deaf_until_s = due_s if wait.deaf else None

    def _elapsed(self) -> None:
        self._timer = None
        self._stop_waiting()
        self._advance(ELAPSED)
        self._on_released()

    def _stop_waiting(self) -> None:
        self._wait = None
        self.deaf_until_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
