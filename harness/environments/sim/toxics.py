"""Toxiproxy's toxics, as the simulated proxy has them: stages that chunks of a stream pass through, in order.

Source: Shopify/toxiproxy v2.12.0 link.go, toxics/latency.go.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from random import Random
from typing import ClassVar, Protocol


class Chunk:
    """Bytes that were read at once, at `at_s`. A toxic that delays them adds to it."""

    __slots__ = ("at_s", "data")

    def __init__(self, data: bytes, at_s: float) -> None:
        self.data = data
        self.at_s = at_s


class ChunkSink(Protocol):
    """Where a stage's chunks go: the next stage, or the socket."""

    def take(self, chunk: Chunk) -> None: ...

    def finish(self) -> None:
        """No more chunks come."""


class Stage(ChunkSink, Protocol):
    """One toxic on one direction of one connection."""

    downstream: ChunkSink

    @property
    def held(self) -> int:
        """Chunks that are inside."""
        ...

    def interrupt(self) -> None:
        """The chain behind this toxic changes: Toxiproxy passes the chunk that it holds on at once."""
        ...

    def release_all(self) -> None:
        """The toxic is removed: everything inside is passed on at once."""
        ...


class SimToxic(Protocol):
    """A toxic as it was added to a proxy; makes a stage for each connection."""

    kind: ClassVar[str]
    attributes: ClassVar[frozenset[str]]
    room: ClassVar[int]
    """Chunks that fit into its buffer."""

    def __init__(self, attributes: Mapping[str, int], rng: Random) -> None: ...

    def stage(self, downstream: ChunkSink, on_released: Callable[[], None]) -> Stage: ...


class Latency:
    """Each chunk is passed on `latency` +/- `jitter` milliseconds after it was read, never before the previous one."""

    kind: ClassVar[str] = "latency"
    attributes: ClassVar[frozenset[str]] = frozenset({"latency", "jitter"})
    room: ClassVar[int] = 1024

    def __init__(self, attributes: Mapping[str, int], rng: Random) -> None:
        self._latency_ms = attributes.get("latency", 0)
        self._jitter_ms = attributes.get("jitter", 0)
        self._rng = rng

    def delay_s(self) -> float:
        delay_ms = self._latency_ms
        if self._jitter_ms > 0:
            delay_ms += self._rng.randrange(2 * self._jitter_ms) - self._jitter_ms
        return delay_ms / 1000

    def stage(self, downstream: ChunkSink, on_released: Callable[[], None]) -> Stage:
        return _LatencyStage(self, downstream, on_released)


class _LatencyStage:
    def __init__(self, toxic: Latency, downstream: ChunkSink, on_released: Callable[[], None]) -> None:
        self.downstream = downstream
        self._toxic = toxic
        self._on_released = on_released
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[Chunk] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._finished = False

    @property
    def held(self) -> int:
        return len(self._chunks)

    def take(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        if self._timer is None:
            self._wait()

    def finish(self) -> None:
        self._finished = True
        if not self._chunks:
            self.downstream.finish()

    def interrupt(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._pass_on()

    def release_all(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        ends_here = self._finished and bool(self._chunks)
        while self._chunks:
            self.downstream.take(self._chunks.popleft())
        if ends_here:
            self.downstream.finish()

    def _wait(self) -> None:
        """Begin to hold the first chunk."""
        chunk, now_s = self._chunks[0], self._loop.time()
        sleep_s = self._toxic.delay_s() - (now_s - chunk.at_s)
        chunk.at_s += sleep_s
        self._timer = self._loop.call_at(now_s + max(0.0, sleep_s), self._over)

    def _over(self) -> None:
        self._timer = None
        self._pass_on()
        self._on_released()

    def _pass_on(self) -> None:
        self.downstream.take(self._chunks.popleft())
        if self._chunks:
            self._wait()
        elif self._finished:
            self.downstream.finish()


TOXICS: Mapping[str, type[SimToxic]] = {Latency.kind: Latency}
"""Every toxic that the simulated proxy knows, by Toxiproxy's name for it."""
