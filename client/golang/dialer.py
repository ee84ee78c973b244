"""net.Dialer: several addresses of one name are tried one after the other, each with its share of the time left.

Source: Go's net/dial.go (dialSerial, partialDeadline).
"""

import asyncio

from client.limit import Limit
from client.net.address import join_host_port
from client.net.connection import Connection
from client.net.dialing import traced_dial
from client.net.errors import Cause, NetError, Phase
from client.net.stream import Stream
from client.runtime import ClientRuntime

_SANE_MINIMUM_S = 2.0
"""An address gets at least this much of what is left, where so much is left."""


class Dialer:
    """Opens connections. `keep_alive_s` is the idle time and interval of TCP keep-alives, None: none are sent."""

    def __init__(self, runtime: ClientRuntime, *, keep_alive_s: float | None = None) -> None:
        self._runtime = runtime
        self._keep_alive_s = keep_alive_s

    async def dial(self, host: str, port: int, *, broker: int, limit: Limit) -> Connection:
        """Resolve and connect within the limit, traced. Raises NetError in phase RESOLVE or CONNECT."""
        runtime = self._runtime
        return await traced_dial(
            self._dial_serial(host, port, limit),
            runtime.tracer,
            next(runtime.connections),
            broker=broker,
            address=join_host_port(host, port),
            limit=limit,
        )

    async def _dial_serial(self, host: str, port: int, limit: Limit) -> Stream:
        loop = asyncio.get_running_loop()
        deadline_at = limit.deadline_at(loop.time())
        addresses = await self._runtime.resolver.resolve(host)
        first_error: NetError | None = None
        try:
            for index, ip in enumerate(addresses):
                if deadline_at is not None and loop.time() >= deadline_at:
                    raise first_error or NetError(Phase.CONNECT, Cause.TIMEOUT, join_host_port(ip, port))
                until = _partial_deadline(loop.time(), deadline_at, len(addresses) - index)
                try:
                    return await self._runtime.connect(ip, port, deadline_at=until, keep_alive_s=self._keep_alive_s)
                except NetError as error:
                    first_error = first_error or error
            assert first_error is not None, "a resolver returned no address"
            raise first_error
        finally:
            first_error = None  # or the error and this frame, which is in its traceback, hold each other


def _partial_deadline(now: float, deadline_at: float | None, addresses_left: int) -> float | None:
    """Until when the next address is tried."""
    if deadline_at is None:
        return None
    left_s = deadline_at - now
    return now + max(left_s / addresses_left, min(left_s, _SANE_MINIMUM_S))
