"""Toxiproxy's toxics, as the simulated proxy has them: each is written as its Go function is, and stands in a stub.

A pipe is a generator: it yields what it waits for and is sent what has come. Closing it is Toxiproxy's interrupt.
Source: Shopify/toxiproxy v2.12.0 toxics/.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from random import Random
from typing import ClassVar, NamedTuple, Protocol


class Chunk:
    """Bytes that were read at once, at `at_s`. A toxic that delays them adds to it."""

    __slots__ = ("at_s", "data")

    def __init__(self, data: bytes, at_s: float) -> None:
        self.data = data
        self.at_s = at_s


class Wait(NamedTuple):
    """What a pipe waits for: a chunk, so many seconds, or whichever comes first. `deaf`: no interrupt ends it."""

    input: bool = False
    seconds: float | None = None
    deaf: bool = False


INPUT = Wait(input=True)
ELAPSED = Chunk(b"", 0.0)
"""What a pipe is sent when its seconds are over. A chunk that has come is sent as it is, the end of them as None."""

Pipe = Generator[Wait, Chunk | None, None]


class StubOutput(Protocol):
    """What a pipe sees of its stub."""

    passed_bytes: int
    """Kept while the toxic stays, also through interrupts."""

    @property
    def now_s(self) -> float: ...

    def output(self, chunk: Chunk) -> None: ...

    def close(self) -> None:
        """The connection that is written to is closed; nothing more is read."""
        ...


class SimToxic:
    """A toxic as it was added to a proxy."""

    kind: ClassVar[str]
    buffer: ClassVar[int] = 0
    """Chunks that wait for it, beside the one that it has in hand."""
    closes_when_removed: ClassVar[bool] = False
    """Whether its removal closes the connections of its direction."""
    aborts: ClassVar[bool] = False
    """Whether connections that are made while it is in force are closed by a reset."""

    def __init__(self, attributes: Mapping[str, int], rng: Random, toxicity: float = 1.0) -> None:
        self.attributes = attributes
        self.rng = rng
        self.toxicity = toxicity

    def run(self, stub: StubOutput) -> Pipe:
        """What the stub runs: the toxic's own pipe, or by chance one without effect."""
        affects = self.toxicity >= 1 or self.rng.random() < self.toxicity
        return self.pipe(stub) if affects else noop(stub)

    def pipe(self, stub: StubOutput) -> Pipe:
        raise NotImplementedError

    def milliseconds(self, attribute: str) -> float:
        """An attribute in seconds."""
        return self.attributes.get(attribute, 0) / 1000


def noop(stub: StubOutput) -> Pipe:
    """Pass everything through (noop.go)."""
    while (chunk := (yield INPUT)) is not None:
        stub.output(chunk)
    stub.close()


class Latency(SimToxic):
    """Each chunk is passed on `latency` +/- `jitter` milliseconds after it was read, never before the previous one."""

    kind = "latency"
    buffer = 1024

    def delay_s(self) -> float:
        delay_ms, jitter_ms = self.attributes.get("latency", 0), self.attributes.get("jitter", 0)
        if jitter_ms > 0:
            delay_ms += self.rng.randrange(2 * jitter_ms) - jitter_ms
        return delay_ms / 1000

    def pipe(self, stub: StubOutput) -> Pipe:
        while (chunk := (yield INPUT)) is not None:
            sleep_s = self.delay_s() - (stub.now_s - chunk.at_s)
            try:
                yield Wait(seconds=sleep_s)
            except GeneratorExit:
                stub.output(chunk)
                raise
            chunk.at_s += sleep_s
            stub.output(chunk)
        stub.close()


class Bandwidth(SimToxic):
    """Bytes pass at `rate` KB/s: a chunk as a whole after its time, or where that is long in parts of 100 ms."""

    kind = "bandwidth"

    def pipe(self, stub: StubOutput) -> Pipe:
        rate = self.attributes["rate"]
        part, sleep_s = rate * 100, 0.0
        while (chunk := (yield INPUT)) is not None:
            sleep_s += len(chunk.data) / rate / 1000
            try:
                while len(chunk.data) > part:
                    yield Wait(seconds=0.1)
                    stub.output(Chunk(chunk.data[:part], chunk.at_s))
                    chunk.data = chunk.data[part:]
                    sleep_s -= 0.1
                began_s = stub.now_s
                yield Wait(seconds=sleep_s)
            except GeneratorExit:
                stub.output(chunk)
                raise
            sleep_s -= stub.now_s - began_s
            stub.output(chunk)
        stub.close()


class SlowClose(SimToxic):
    """The end of the stream is passed on `delay` milliseconds late."""

    kind = "slow_close"

    def pipe(self, stub: StubOutput) -> Pipe:
        while (chunk := (yield INPUT)) is not None:
            stub.output(chunk)
        yield Wait(seconds=self.milliseconds("delay"))
        stub.close()


class Timeout(SimToxic):
    """Nothing passes; `timeout` milliseconds after the last bytes, unless it is 0, the connection is closed."""

    kind = "timeout"
    closes_when_removed = True

    def pipe(self, stub: StubOutput) -> Pipe:
        wait = Wait(input=True, seconds=self.milliseconds("timeout") or None)
        while (chunk := (yield wait)) is not None and chunk is not ELAPSED:
            pass
        stub.close()


class Slicer(SimToxic):
    """Chunks are cut into pieces of `average_size` +/- `size_variation` bytes, with `delay` microseconds after each."""

    kind = "slicer"

    def pipe(self, stub: StubOutput) -> Pipe:
        wait = Wait(seconds=self.attributes.get("delay", 0) / 1e6)
        while (chunk := (yield INPUT)) is not None:
            for start, end in self._pieces(0, len(chunk.data)):
                stub.output(Chunk(chunk.data[start:end], chunk.at_s))
                try:
                    yield wait
                except GeneratorExit:
                    stub.output(Chunk(chunk.data[end:], chunk.at_s))
                    raise
        stub.close()

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        average, variation = self.attributes["average_size"], self.attributes.get("size_variation", 0)
        if end - start - average <= variation:
            yield start, end
            return
        middle = start + (end - start) // 2
        if variation > 0:
            middle += self.rng.randrange(2 * variation) - variation
        yield from self._pieces(start, middle)
        yield from self._pieces(middle, end)


class LimitData(SimToxic):
    """Once `bytes` have passed on a connection, it is closed."""

    kind = "limit_data"

    def pipe(self, stub: StubOutput) -> Pipe:
        limit = self.attributes["bytes"]
        while (chunk := (yield INPUT)) is not None:
            data = chunk.data[: max(0, limit - stub.passed_bytes)]
            stub.passed_bytes += len(data)
            stub.output(Chunk(data, chunk.at_s))
            if stub.passed_bytes >= limit:
                break
        stub.close()


class ResetPeer(SimToxic):
    """The first bytes are lost, and `timeout` milliseconds after them the connection is closed.

    By a reset where it was made while the toxic was in force (link.go, Start); else in an orderly way. Toxiproxy
    neither adds nor removes a toxic behind it meanwhile.
    """

    kind = "reset_peer"
    aborts = True

    def pipe(self, stub: StubOutput) -> Pipe:
        yield INPUT
        yield Wait(seconds=self.milliseconds("timeout"), deaf=True)
        stub.close()


TOXICS: Mapping[str, type[SimToxic]] = {
    toxic.kind: toxic for toxic in (Latency, Bandwidth, SlowClose, Timeout, Slicer, LimitData, ResetPeer)
}
"""Every toxic that the simulated proxy knows, by Toxiproxy's name for it."""
