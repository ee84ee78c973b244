"""Toxics added to a broker's proxy and proven by what is seen of it: what a Toxic lever does in every world."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

from harness.environments.lever_table import PulledLever
from harness.environments.passage import ProxyPassage
from harness.environments.world import ActiveLever
from harness.levers import (
    BytesSliced,
    BytesSwallowed,
    ConnectionsEnded,
    DelaySeen,
    EndHeld,
    Evidence,
    Flow,
    Toxic,
)
from harness.levers.toxic import MIN_HOLD_S

LAST_SEGMENTS_NS = 50_000_000
"""How long after the removal the ends of connections are waited for. Those that a toxic has spared do not come."""

Moment = int | None
Seen = Callable[[ProxyPassage, Mapping[str, int], Moment, Moment], Evidence]


def _latency_seen(seen: ProxyPassage, attributes: Mapping[str, int], since_ns: Moment, until_ns: Moment) -> DelaySeen:
    """Bytes whose sender gave up while they were held, or that are held still, are late by all that the toxic holds
    them for. What stays inside for longer than it holds anything, another toxic keeps."""
    held_s = seen.held_s(since_ns, until_ns)
    delay_s, jitter_s = attributes["latency"] / 1000, attributes.get("jitter", 0) / 1000
    longest_s = delay_s + jitter_s
    if seen.withheld(longest_s, since_ns, until_ns) or seen.holds(MIN_HOLD_S, longest_s, since_ns, until_ns):
        held_s = max(held_s, delay_s - jitter_s)
    return DelaySeen(delay_s=held_s)


def _slow_close_seen(seen: ProxyPassage, attributes: Mapping[str, int], since_ns: Moment, until_ns: Moment) -> EndHeld:
    """An end that is held still is late by all that the toxic holds it for."""
    held_s, delay_s = seen.end_held_s(since_ns, until_ns), attributes["delay"] / 1000
    if seen.holds_end(MIN_HOLD_S, delay_s, since_ns, until_ns):
        held_s = max(held_s, delay_s)
    return EndHeld(delay_s=held_s)


def _timeout_seen(
    seen: ProxyPassage, attributes: Mapping[str, int], since_ns: Moment, until_ns: Moment
) -> BytesSwallowed:
    timeout_s = attributes["timeout"] / 1000
    return BytesSwallowed(
        bytes=seen.swallowed(since_ns, until_ns, timeout_s),
        connections=seen.cut_in_silence(timeout_s, since_ns, until_ns),
    )


SEEN: Mapping[str, Seen] = {
    "latency": _latency_seen,
    "bandwidth": lambda seen, its, since, until: DelaySeen(delay_s=seen.paced_s(its["rate"] * 1000, since, until)),
    "slow_close": _slow_close_seen,
    "timeout": _timeout_seen,
    "slicer": lambda seen, _, since, until: BytesSliced(slices=seen.slices(since, until)),
    "limit_data": lambda seen, its, since, until: ConnectionsEnded(
        connections=seen.cut_behind(its["bytes"], since, until)
    ),
    "reset_peer": lambda seen, its, since, until: ConnectionsEnded(
        connections=seen.cut_after(its["timeout"] / 1000, since, until)
    ),
}
"""What each kind of toxic is seen to have done to the client's bytes, by Toxiproxy's name, from its attributes."""


class ToxicProxies(Protocol):
    """The proxies of one world."""

    async def add_toxic(self, lever: Toxic) -> Any:
        """Returns when it is in force; the result is what `remove_toxic` takes."""
        ...

    async def spare_connections(self, lever: Toxic, added: Any) -> None:
        """Have it affect no connection any more, until it is removed."""
        ...

    def dials_held(self, broker: int) -> AbstractAsyncContextManager[None]:
        """Hold dials to a broker's proxy while the context is entered, which takes a moment; may be entered again
        meanwhile."""
        ...

    async def remove_toxic(self, lever: Toxic, added: Any) -> None: ...

    async def clients_connected(self, broker: int) -> int:
        """How many connections to a broker's proxy are open, the lab's own left out. Raises WorldError."""
        ...

    def watch_proxy(self, broker: int, flow: Flow) -> AbstractContextManager[ProxyPassage]:
        """See what goes into a broker's proxy, and what comes out again, while the context is entered."""
        ...


class ToxicLevers:
    """Pulls Toxic levers."""

    def __init__(self, proxies: ToxicProxies, now_ns: Callable[[], int]) -> None:
        self._proxies = proxies
        self._now_ns = now_ns

    @asynccontextmanager
    async def pull(self, lever: Toxic) -> AsyncIterator[ActiveLever]:
        seen, attributes = SEEN[lever.kind], dict(lever.attributes)
        with self._proxies.watch_proxy(lever.broker, lever.flow) as passage:
            began_ns = self._now_ns()
            passage.begins(began_ns)
            added = await self._proxies.add_toxic(lever)

            async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
                passage.update(self._now_ns())
                return seen(passage, attributes, since_ns, until_ns)

            async with AsyncExitStack() as undoing:

                async def begin() -> None:
                    cut = await self._proxies.clients_connected(lever.broker) if lever.cuts_when_undone else 0
                    passage.undo_begins(self._now_ns(), cut)
                    if lever.cuts_when_undone:
                        await undoing.enter_async_context(self._proxies.dials_held(lever.broker))
                    # Toxiproxy waits for one that is about to end a connection before it changes it.
                    elif lever.acts_while_undone and not passage.ending(attributes["timeout"] / 1000):
                        await self._proxies.spare_connections(lever, added)

                try:
                    yield PulledLever(began_ns, self._now_ns(), collect, begin)
                finally:
                    passage.undo_begins(self._now_ns())
                    await self._proxies.remove_toxic(lever, added)
                    if lever.acts_while_undone and not lever.cuts_when_undone:
                        await self._see_ends(passage, attributes["timeout"] / 1000)

    async def _see_ends(self, passage: ProxyPassage, timeout_s: float) -> None:
        """The connections that the removal waited for are closed; their last segments are on their way."""
        until_ns = self._now_ns() + LAST_SEGMENTS_NS
        passage.update(self._now_ns())
        while passage.ending(timeout_s) and self._now_ns() < until_ns:
            await asyncio.sleep(0.001)
            passage.update(self._now_ns())
