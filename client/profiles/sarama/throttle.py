"""How a broker's throttle time delays the next request. Source: IBM/sarama v1.60.1 broker.go (setThrottle)."""

import asyncio

from client.events import Tracer
from client.golang import Mutex, sleep
from client.limit import Limit


class Throttle:
    """One broker's. While a request waits, recording another throttle time waits too. Earlier releases ignore throttle
    times: they are not `enabled`."""

    def __init__(self, tracer: Tracer, broker_id: int, *, enabled: bool) -> None:
        self._tracer = tracer
        self._broker_id = broker_id
        self._enabled = enabled
        self._lock = Mutex()
        self._throttled_until_at: float | None = None

    async def record_throttle_time(self, throttle_time_ms: int) -> None:
        """An answer brought this throttle time."""
        if throttle_time_ms > 0 and self._enabled:
            async with self._lock:
                self._throttled_until_at = asyncio.get_running_loop().time() + throttle_time_ms / 1000

    async def wait(self) -> None:
        """Before a request is sent."""
        if self._throttled_until_at is None:
            return
        async with self._lock:
            left_s = self._throttled_until_at - asyncio.get_running_loop().time()
            if left_s > 0:
                with self._tracer.sleeping(Limit(left_s, ("throttle_time_ms",)), "throttled", broker=self._broker_id):
                    await sleep(left_s)
            self._throttled_until_at = None
