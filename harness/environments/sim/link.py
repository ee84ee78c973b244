"""One direction of a proxied connection: reads chunks from one socket, lets them through the toxics, writes the other.

Source: Shopify/toxiproxy v2.12.0 link.go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.environments.sim.toxics import Chunk, ChunkSink, SimToxic, Stage

if TYPE_CHECKING:
    from harness.environments.sim.loop import SimLoop
    from harness.environments.sim.socket import TcpSocket

READ_SIZE = 32 * 1024
"""Go's io.Copy reads this much at once."""


class Link:
    """Ends when its source has ended and everything is written, or when writing fails: then `ended` is called, once.

    An error of the source counts as its end, so a reset arrives at the other side as an orderly close.
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
        self._stages: list[Stage] = []
        self._room = 1
        self._unwritten: deque[bytes | memoryview] = deque()
        self._source_ended = False
        self._finished = False
        self._over = False
        for toxic in toxics:
            self._append(toxic)

    def start(self) -> None:
        self._read_more()

    def add(self, toxic: SimToxic) -> None:
        """Put a toxic at the end of the chain; the one before it forwards the chunk that it holds."""
        if self._stages:
            self._stages[-1].interrupt()
        self._append(toxic)
        self._read_more()

    def remove(self, place: int) -> None:
        """Remove the toxic at this index of the chain; what it holds is forwarded at once."""
        stage = self._stages.pop(place)
        before = self._stages[place - 1] if place else None
        if before is not None:
            before.downstream = stage.downstream
        stage.release_all()
        self._read_more()

    def end_source(self) -> None:
        """The source has ended, failed, or was closed by the proxy itself."""
        if not self._source_ended:
            self._source_ended = True
            self.source.want_read(wanted=False)
            self._first().finish()

    def stop(self) -> None:
        """Both sockets were closed: drop what is inside."""
        self._over = True
        for stage in self._stages:
            stage.release_all()
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
        if not self._over:
            self._unwritten.append(chunk.data)
            if len(self._unwritten) == 1:
                self._write()

    def finish(self) -> None:
        self._finished = True
        if not self._unwritten:
            self._end()

    def _append(self, toxic: SimToxic) -> None:
        stage = toxic.stage(self, self._read_more)
        if self._stages:
            self._stages[-1].downstream = stage
        self._stages.append(stage)
        self._room += toxic.room

    def _first(self) -> ChunkSink:
        return self._stages[0] if self._stages else self

    def _read_more(self) -> None:
        """Read on as long as there is room between the sockets."""
        if self._source_ended or self._over:
            return
        held = len(self._unwritten) + sum(stage.held for stage in self._stages)
        self.source.want_read(wanted=held < self._room)

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
            self.source.want_read(wanted=False)
            self._ended(self)
