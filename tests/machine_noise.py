"""How late the machine wakes a process that asked to sleep: what a test of real time has to allow for."""

import threading
import time

INTERVAL_S = 0.005
PUNCTUAL_S = 0.002
"""An idle machine wakes a sleeper within this."""

NOISY_SHARE = 0.01


class Lateness:
    """Samples from a thread for as long as the process lives; a fork needs one of its own."""

    def __init__(self) -> None:
        self._total_s = 0.0
        self._began_s = time.monotonic()
        threading.Thread(target=self._sample, daemon=True, name="lateness").start()

    @property
    def total_s(self) -> float:
        """The sum of all lateness so far: whatever this process waited for may have come this much later."""
        return self._total_s

    def noisy(self) -> bool:
        """Whether more than a hundredth of the time so far was lateness: a test of real time may fail by it."""
        return self._total_s > NOISY_SHARE * (time.monotonic() - self._began_s)

    def _sample(self) -> None:
        while True:
            due_s = time.monotonic() + INTERVAL_S
            time.sleep(INTERVAL_S)
            late_s = time.monotonic() - due_s
            if late_s > PUNCTUAL_S:
                self._total_s += late_s
