"""What a contract check may use, on simulated and on real sockets alike: a loop, one link, and packet rules on it.

A check is a coroutine function that takes a `Toolkit` and uses plain asyncio for everything else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from harness.levers import Flow, PacketAction

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Check = Callable[["Toolkit"], Awaitable[None]]

ADDRESS = ("127.0.2.1", 9092)
"""The one link of a check: whoever serves, serves here, and packet rules sit on it."""

UPSTREAM = ("127.0.1.1", 9092)
"""Whoever serves behind a proxy serves here; the proxy is at ADDRESS."""

NOBODY = ("127.0.2.2", 9092)
"""Nobody ever listens there."""


class Toolkit(Protocol):
    @property
    def slack_s(self) -> float:
        """How much later than predicted things may happen in this world: in cells, what the machine was late so far."""
        ...

    def packets(
        self, flow: Flow, *, only: str = "any", verdict: PacketAction = PacketAction.DROP, **more: Any
    ) -> AbstractAsyncContextManager["Counter"]:
        """A packet rule at ADDRESS, as `harness.levers.FilterPackets` has it; on leaving the context it is gone."""
        ...

    def send_ordinary_packets(self) -> None:
        """Make connections that are dialled from now on send packets of 1,500 bytes, as on an ordinary network."""
        ...

    def timeout_s(self, writer: asyncio.StreamWriter) -> float:
        """The retransmission time-out that the connection has now, before any back-off (tcpi_rto)."""
        ...

    def listening(self, *, backlog: int) -> AbstractAsyncContextManager[None]:
        """Somebody listens at ADDRESS and never accepts."""
        ...

    def proxy(self) -> AbstractAsyncContextManager["Proxied"]:
        """A Toxiproxy proxy from ADDRESS to UPSTREAM."""
        ...


class Proxied(Protocol):
    async def enable(self) -> None: ...

    async def disable(self) -> None: ...

    async def add(self, kind: str, flow: Flow, *, toxicity: float = 1.0, **attributes: int) -> object:
        """Adds a toxic in Toxiproxy's own words; the result is what `remove` takes."""
        ...

    async def remove(self, toxic: object) -> None: ...


class Counter(Protocol):
    async def packets(self) -> int:
        """How many packets the rule has matched so far."""
        ...


def now_s() -> float:
    return asyncio.get_running_loop().time()


def since(moment_s: float) -> float:
    """Seconds since a moment of the loop's clock, to the microsecond."""
    return round(now_s() - moment_s, 6)


class Served:
    """A server at ADDRESS whose connections the check handles by itself, in the order of their coming."""

    def __init__(self, server: asyncio.Server, peers: "asyncio.Queue[Peer]") -> None:
        self._server = server
        self._peers = peers

    async def peer(self) -> "Peer":
        """The next accepted connection."""
        return await self._peers.get()

    def close(self) -> None:
        self._server.close()


Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def serve(address: tuple[str, int] = ADDRESS, *, backlog: int = 100, limit: int = 2**16) -> Served:
    """Listen there."""
    peers: asyncio.Queue[Peer] = asyncio.Queue()

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.put_nowait((reader, writer))

    server = await asyncio.start_server(keep, *address, backlog=backlog, limit=limit)
    return Served(server, peers)


async def pair(*, limit: int = 2**16) -> tuple[Peer, Peer]:
    """Both ends of a connection to ADDRESS: the dialler's, then the server's."""
    served = await serve(limit=limit)
    near = await asyncio.open_connection(*ADDRESS)
    far = await served.peer()
    served.close()
    return near, far


Window = tuple[float, float]
"""Earliest and latest second, counted from the moment at which the first of its kind was sent."""


def data_retransmissions_s() -> list[Window]:
    """When one lost segment is sent again: a tail-loss probe, then with doubling waits."""
    return _windows([0.204, 0.204, 0.408, 0.816, 1.632, 3.264])


def tail_retransmissions_s() -> list[Window]:
    """When the first of several lost segments is sent again: the tail probe of the last one is not among them."""
    return _windows([0.204, 0.408, 0.816, 1.632])


def persist_probes_s() -> list[Window]:
    """When a segment that was refused on its way out is tried again: with doubling waits."""
    return _windows([0.204, 0.408, 0.816, 1.632, 3.264])


def syn_retransmissions_s() -> list[Window]:
    """When a lost SYN is sent again: tcp_syn_linear_timeouts = 4."""
    return _windows([1.0, 1.0, 1.0, 1.0, 1.0, 2.0])


def next_after(windows: list[Window], planned_s: float, healed_s: float) -> Window:
    """From when to when the first retransmission after healing can come, which was done at `healed_s` at the latest.

    Planned moments of healing lie between windows; a machine that is late may heal during one, or after several.
    """
    assert not any(low <= planned_s <= high for low, high in windows), "heal between retransmissions, not during one"
    earliest_s = next(low for low, _ in windows if low > planned_s)
    return earliest_s, next(high for low, high in windows if low > healed_s)


def _windows(waits_s: list[float]) -> list[Window]:
    """Each wait ends late by up to one slot of the timer wheel's level that it sits on."""
    low = high = 0.0
    windows = []
    for wait_s in waits_s:
        low += wait_s
        high += wait_s + next(slot_s for below_s, slot_s in _WHEEL if wait_s < below_s)
        windows.append((low - 0.002, high))
    return windows


_WHEEL = ((0.252, 0.008), (2.016, 0.036), (16.128, 0.260), (129.024, 2.052))
"""Waits below so many seconds are late by up to so many: HZ 250, and a jiffy for rounding up."""
