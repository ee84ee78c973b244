"""One direction of a proxied connection: reads chunks from one socket, lets them through the toxics, writes the other.

Source: Shopify/toxiproxy v2.12.0 link.go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.environments.sim.stub import ChunkSink, Stub
from harness.environments.sim.toxics import Chunk, SimToxic

if TYPE_CHECKING:
    from harness.environments.sim.loop import SimLoop
    from harness.environments.sim.socket import TcpSocket

READ_SIZE = 32 * 1024
"""Go's io.Copy reads this much at once."""

_AHEAD = 2
"""Chunks that are read while no toxic takes one: the reader holds one, and the no-op toxic that is always the first."""


class Link:
    """Ends when its source has ended and everything is written, or when writing fails: then `ended` is called, once.

    An error of the source counts as its end, so a reset arrives at the other side as an orderly close. A link that has
    ended still reads ahead, until its source is closed as well.
    """

    def __init__(
        self,
        loop: SimLoop,
        source: TcpSocket,
        destination: TcpSocket,
        toxics: Sequence[SimToxic],
        ended: Callable[[Link], None],
    ) -> None:
        self.source = source
        self.destination = destination
        self._loop = loop
        self._ended = ended
        self._stubs: list[Stub] = []
        self._unwritten: deque[bytes | memoryview] = deque()
        self._source_ended = False
        self._finished = False
        self._over = False
        self._stopped = False
        for toxic in toxics:
            self._append(toxic)

    def start(self) -> None:
        self._read_more()

    def add(self, toxic: SimToxic) -> None:
        """Put a toxic at the end of the chain; the one before it forwards the chunk that it holds, and runs anew.

        Nothing is put behind one that is closed or about to close: the link is over with it.
        """
        before = self._stubs[-1] if self._stubs else None
        if before is not None:
            if before.closed or before.deaf_until_s is not None:
                return
            before.interrupt()
        self._append(toxic)
        if before is not None:
            before.run()
        self._read_more()

    def remove(self, toxic: SimToxic) -> None:
        """Remove a toxic from the chain; what it holds is forwarded at once. One that is about to close does that."""
        place, stub = self._changeable(toxic)
        if stub is None:
            return
        stub.interrupt()
        if toxic.closes_when_removed:
            stub.close()
            return
        before = self._stubs[place - 1] if place else None
        if before is not None and not before.closed:
            before.interrupt()
        stub.flush()
        del self._stubs[place]
        if before is not None:
            before.downstream = stub.downstream
            before.run()
        self._read_more()

    def run_anew(self, toxic: SimToxic) -> None:
        """A toxic was changed: what it holds is forwarded at once. One that is about to close does that."""
        _, stub = self._changeable(toxic)
        if stub is not None:
            stub.interrupt()
            stub.run()

    @property
    def deaf_until_s(self) -> float:
        """Until when no toxic of it can be changed; 0 where any can."""
        return max((stub.deaf_until_s or 0.0 for stub in self._stubs), default=0.0)

    def end_source(self) -> None:
        """The source has ended, failed, or was closed by the proxy itself."""
        if not self._source_ended:
            self._source_ended = True
            self.source.want_read(wanted=False)
            self._first().finish()

    def stop(self) -> None:
        """Both sockets were closed: drop what is inside."""
        self._over = self._stopped = True
        for stub in self._stubs:
            stub.discard()
        self._unwritten.clear()

    def read_ready(self) -> None:
        try:
            data = self.source.receive(READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.end_source()
            return
        self._first().take(Chunk(data, self._loop.now))
        self._read_more()

    def write_ready(self) -> None:
        self._write()
        self._read_more()

    # What the last stage does.

    def take(self, chunk: Chunk) -> None:
        self._unwritten.append(chunk.data)
        if len(self._unwritten) == 1 and not self._over:
            self._write()

    def finish(self) -> None:
        self._finished = True
        if not self._unwritten:
            self._end()

    def _append(self, toxic: SimToxic) -> None:
        stub = Stub(toxic, self, self._read_more)
        if self._stubs:
            self._stubs[-1].downstream = stub
        self._stubs.append(stub)
        stub.run()

    def _changeable(self, toxic: SimToxic) -> tuple[int, Stub | None]:
        """A toxic's place in the chain and its stub; None for one that takes no change."""
        place, stub = next(((n, one) for n, one in enumerate(self._stubs) if one.toxic is toxic), (0, None))
        return place, None if stub is None or stub.closed or stub.deaf_until_s is not None else stub

    def _first(self) -> ChunkSink:
        return self._stubs[0] if self._stubs else self

    def _read_more(self) -> None:
        """Read on as long as there is room between the sockets, or before a toxic that is closed."""
        if self._source_ended or self._stopped:
            return
        room = _AHEAD
        for stub in self._stubs:
            room += stub.room
            if stub.closed:
                break
        else:
            room -= len(self._unwritten)
            if self._unwritten and not self._over:
                room += 1  # its writer has one
        self.source.want_read(wanted=room > 0)

    def _write(self) -> None:
        try:
            while self._unwritten:
                data = self._unwritten[0]
                size = self.destination.send(data)
                if size < len(data):
                    self._unwritten[0] = memoryview(data)[size:]
                    self.destination.want_write(wanted=True)
                    return
                self._unwritten.popleft()
        except OSError:
            self._end()
            return
        self.destination.want_write(wanted=False)
        if self._finished:
            self._end()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._unwritten.clear()
            self._read_more()
            self._ended(self)
