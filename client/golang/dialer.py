"""net.Dialer: the addresses of a name one after the other, each with its share of the time left; those of the other
address family beside them where the first ones take long.

Source: Go's net/dial.go (dialParallel, dialSerial, partialDeadline).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from client.golang.channel import Channel
from client.golang.resolver import resolve_within
from client.golang.select import Receive, select
from client.golang.time import Timer
from client.limit import Limit
from client.net.address import join_host_port
from client.net.connection import Connection
from client.net.dialing import traced_dial
from client.net.errors import Cause, NetError, Phase
from client.net.stream import Stream
from client.net.tcp import Address, KeepAlive
from client.runtime import ClientRuntime

_SANE_MINIMUM_S = 2.0
"""An address gets at least this much of what is left, where so much is left."""

_FALLBACK_DELAY_S = 0.3
"""How long the addresses of the other family wait where nothing else is said."""

_KEEP_ALIVE_INTERVAL_S, _KEEP_ALIVE_PROBES = 15.0, 9
"""What Go sets whatever a Dialer's KeepAlive is, from 1.23 on (tcpsock.go, newTCPConn; dial.go)."""

_LOCAL_SYSTEM = "127.0.0.1"
"""What an empty host means."""


_Begin = Callable[[], None]
"""Called before each connect."""


class _Raced(NamedTuple):
    """How one family's dials ended: with a stream or with an error."""

    primary: bool
    stream: Stream | None = None
    error: NetError | None = None


class Dialer:
    """Opens connections. `keep_alive_s` is a net.Dialer's KeepAlive: for how long nothing comes before TCP keep-alives
    are sent, None: none are.

    `local_address` is what connections are bound to, None: the kernel chooses. `fallback_delay_s` is a net.Dialer's
    FallbackDelay: 0 means 0.3 s, a negative one that all addresses wait for one another. `traced_from_connect`: what
    ends before it connects is no dial in the trace, as where a library dials by itself and only the wire shows it.
    """

    def __init__(
        self,
        runtime: ClientRuntime,
        *,
        keep_alive_s: float | None = None,
        local_address: Address | None = None,
        fallback_delay_s: float = 0.0,
        traced_from_connect: bool = False,
    ) -> None:
        self._runtime = runtime
        self._traced_from_connect = traced_from_connect
        self._keep_alive = (
            None if keep_alive_s is None else KeepAlive(keep_alive_s, _KEEP_ALIVE_INTERVAL_S, _KEEP_ALIVE_PROBES)
        )
        self._local_address = local_address
        self._fallback_delay_s = fallback_delay_s or _FALLBACK_DELAY_S

    async def dial(self, host: str, port: int, *, broker: int, limit: Limit) -> Connection:
        """Resolve and connect within the limit, traced. Raises NetError in phase RESOLVE or CONNECT."""
        runtime = self._runtime
        return await traced_dial(
            lambda begin: self._dial_any(host, port, limit, begin),
            runtime.tracer,
            next(runtime.connections),
            broker=broker,
            address=join_host_port(host, port),
            limit=limit,
            from_connect=self._traced_from_connect,
        )

    async def _dial_any(self, host: str, port: int, limit: Limit, begin: _Begin) -> Stream:
        deadline_at = limit.deadline_at(asyncio.get_running_loop().time())
        if not host:
            try:
                return await self._dial_serial((_LOCAL_SYSTEM,), port, deadline_at, begin)
            except NetError as error:
                raise NetError(error.phase, error.cause, join_host_port(host, port), error.local) from error
        addresses = await resolve_within(self._runtime.resolver, host, deadline_at)
        primaries, fallbacks = _by_family(addresses)
        if not fallbacks or self._fallback_delay_s < 0:
            return await self._dial_serial(addresses, port, deadline_at, begin)
        return await self._dial_parallel(primaries, fallbacks, port, deadline_at, begin)

    async def _dial_parallel(
        self, primaries: Sequence[str], fallbacks: Sequence[str], port: int, deadline_at: float | None, begin: _Begin
    ) -> Stream:
        """The first that connects. The fallbacks begin after the delay, or when the primaries have failed."""
        results: Channel[_Raced] = Channel(2)
        racers: list[asyncio.Task[None]] = []

        def start(addresses: Sequence[str], *, primary: bool) -> None:
            racing = self._race(addresses, port, deadline_at, begin, results, primary=primary)
            racers.append(asyncio.create_task(racing, name=f"dial/{addresses[0]}"))

        start(primaries, primary=True)
        timer = Timer(self._fallback_delay_s)
        failed: dict[bool, NetError] = {}
        try:
            while len(failed) < 2:
                waits_for = None if len(racers) == 2 else timer.channel
                chosen = await select(self._runtime.rng, result=Receive(results), timer=Receive(waits_for))
                if chosen.case == "timer":
                    start(fallbacks, primary=False)
                    continue
                raced: _Raced = chosen.value
                if raced.stream is not None:
                    return raced.stream
                assert raced.error is not None
                failed[raced.primary] = raced.error
                if len(racers) == 1:
                    start(fallbacks, primary=False)
            raise failed[True]
        finally:
            failed.clear()  # or an error and this frame, which is in its traceback, hold each other
            timer.stop()
            for racer in racers:
                racer.cancel()
            while (late := results.try_receive()) is not None:
                if late[0] is not None and late[0].stream is not None:
                    late[0].stream.close()

    async def _race(
        self, addresses: Sequence[str], port: int, deadline_at: float | None, begin: _Begin,
        results: "Channel[_Raced]", *, primary: bool,
    ) -> None:  # fmt: skip
        try:
            results.try_send(_Raced(primary, stream=await self._dial_serial(addresses, port, deadline_at, begin)))
        except NetError as error:
            results.try_send(_Raced(primary, error=error.with_traceback(None)))

    async def _dial_serial(
        self, addresses: Sequence[str], port: int, deadline_at: float | None, begin: _Begin
    ) -> Stream:
        loop = asyncio.get_running_loop()
        first_error: NetError | None = None
        try:
            for index, ip in enumerate(addresses):
                if deadline_at is not None and loop.time() >= deadline_at:
                    raise first_error or self._timed_out(ip, port)
                until = _partial_deadline(loop.time(), deadline_at, len(addresses) - index)
                begin()
                try:
                    return await self._runtime.connect(
                        ip,
                        port,
                        deadline_at=until,
                        keep_alive=self._keep_alive,
                        local_address=self._local_address,
                    )
                except NetError as error:
                    first_error = first_error or error
            assert first_error is not None, "a resolver returned no address"
            raise first_error
        finally:
            first_error = None  # or the error and this frame, which is in its traceback, hold each other

    def _timed_out(self, ip: str, port: int) -> NetError:
        local = None if self._local_address is None else join_host_port(*self._local_address)
        return NetError(Phase.CONNECT, Cause.TIMEOUT, join_host_port(ip, port), local)


def _by_family(addresses: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of the first one's family, and the others."""
    first_is_v6 = ":" in addresses[0]
    return (
        [one for one in addresses if (":" in one) == first_is_v6],
        [one for one in addresses if (":" in one) != first_is_v6],
    )


def _partial_deadline(now: float, deadline_at: float | None, addresses_left: int) -> float | None:
    """Until when the next address is tried."""
    if deadline_at is None:
        return None
    left_s = deadline_at - now
    return now + max(left_s / addresses_left, min(left_s, _SANE_MINIMUM_S))
