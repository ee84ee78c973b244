"""How late the loop's own timers come: the lab's error is at least that."""

import asyncio

TICK_S = 0.01


class LoopLagMonitor:
    """Samples from its creation on. `harness.environments.world.LagMonitor`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._late_s: list[float] = []
        self._due_s = self._loop.time() + TICK_S
        self._timer: asyncio.TimerHandle | None = self._loop.call_at(self._due_s, self._tick)

    def _tick(self) -> None:
        self._count()
        self._timer = self._loop.call_at(self._due_s, self._tick)

    def _count(self) -> None:
        """Every tick that is due by now: a stall hides those that fell into it, and each of them was late too."""
        now_s = self._loop.time()
        while self._due_s <= now_s:
            self._late_s.append(now_s - self._due_s)
            self._due_s += TICK_S

    def end(self) -> tuple[float, ...]:
        """Stop sampling. One number for each tick, in seconds; a second call returns the same."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._count()
        return tuple(self._late_s)
