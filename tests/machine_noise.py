"""How late the machine wakes a process that asked to sleep: what a test of real time has to allow for."""

import os
import threading
import time
from collections.abc import Callable
from functools import cache

INTERVAL_S = 0.005
PUNCTUAL_S = 0.002
"""An idle machine wakes a sleeper within this."""

NOISY_SHARE = 0.01


class Lateness:
    """Samples from a thread for as long as the process lives; a fork needs one of its own."""

    def __init__(self) -> None:
        self._total_s = 0.0
        self._due_s = time.monotonic() + INTERVAL_S
        self._began_s = time.monotonic()
        threading.Thread(target=self._sample, daemon=True, name="lateness").start()

    @property
    def total_s(self) -> float:
        """The sum of all lateness so far: whatever this process waited for may have come this much later."""
        return self._total_s + _beyond_punctual_s(time.monotonic() - self._due_s)

    def noisy(self) -> bool:
        """Whether more than a hundredth of the time so far was lateness: a test of real time may fail by it."""
        return self._total_s > NOISY_SHARE * (time.monotonic() - self._began_s)

    def _sample(self) -> None:
        while True:
            time.sleep(INTERVAL_S)
            now_s = time.monotonic()
            self._total_s += _beyond_punctual_s(now_s - self._due_s)
            self._due_s = now_s + INTERVAL_S


def _beyond_punctual_s(late_s: float) -> float:
    return late_s if late_s > PUNCTUAL_S else 0.0


def measured_lateness() -> Callable[[], float]:
    """How late the machine has been since this call, in seconds: the slack of a test that measures real time."""
    lateness = _of_process(os.getpid())
    before_s = lateness.total_s
    return lambda: lateness.total_s - before_s


@cache
def _of_process(_process: int) -> Lateness:
    """One thread samples for all tests of a process."""
    return Lateness()
