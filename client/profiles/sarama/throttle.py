"""What a broker's throttle time does to the next request. Source: IBM/sarama v1.60.1 broker.go (setThrottle)."""

import asyncio

from client.events import Tracer
from client.golang import Mutex, sleep


class Throttle:
    """One broker's. While a request waits, whoever brings another throttle time waits too. `obeyed`: earlier releases
    pay no heed to it."""

    def __init__(self, tracer: Tracer, broker_id: int, *, obeyed: bool) -> None:
        self._tracer = tracer
        self._broker_id = broker_id
        self._obeyed = obeyed
        self._lock = Mutex()
        self._until_at: float | None = None

    async def after(self, throttle_time_ms: int) -> None:
        """An answer brought this throttle time."""
        if throttle_time_ms > 0 and self._obeyed:
            async with self._lock:
                self._until_at = asyncio.get_running_loop().time() + throttle_time_ms / 1000

    async def wait(self) -> None:
        """Before a request is sent."""
        if self._until_at is None:
            return
        async with self._lock:
            left_s = self._until_at - asyncio.get_running_loop().time()
            if left_s > 0:
                with self._tracer.sleeping("throttle_time_ms", left_s, "throttled", broker=self._broker_id):
                    await sleep(left_s)
            self._until_at = None
