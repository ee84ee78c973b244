"""When cells may start: few at once, and where it is left to the machine no more of them than it can start in time."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

AT_ONCE = 2
"""Starting computes, and would disturb the cells that measure."""
FILL_S = 15.0
"""Where the machine decides, so many cells live as can be started in this time: of more, the first would be over before
the last begins, and the machine would do nothing but start."""


class StartGate:
    """Every cell passes it, and is in it until it has ended. `paced`: the machine decides how many cells live."""

    def __init__(self, *, paced: bool = False) -> None:
        self._paced = paced
        self._changed = threading.Condition()
        self._starting = 0
        self._live = 0
        self._took_s: list[float] = []

    @contextmanager
    def cell(self) -> Iterator["StartSlot"]:
        """Wait until one more cell may start; it lives until the context is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._starting < AT_ONCE and self._live < self.most_live())
            self._starting += 1
            self._live += 1
        slot = StartSlot(self)
        try:
            yield slot
        finally:
            slot.end()
            with self._changed:
                self._live -= 1
                self._changed.notify_all()

    def most_live(self) -> float:
        """How many cells may live side by side, by what starts have taken so far."""
        if not self._paced or not self._took_s:
            return float("inf")
        return max(1.0, FILL_S * AT_ONCE / median(self._took_s))

    def started(self, took_s: float) -> None:
        with self._changed:
            self._starting -= 1
            self._took_s.append(took_s)
            self._changed.notify_all()


class StartSlot:
    """One of the places in which a cell may start; given back when it has started, has failed or takes too long."""

    def __init__(self, gate: StartGate) -> None:
        self._gate = gate
        self._began_s = time.monotonic()
        self.over = False
        self.deadline_s = 0.0

    def end(self) -> None:
        if not self.over:
            self.over = True
            self._gate.started(time.monotonic() - self._began_s)
