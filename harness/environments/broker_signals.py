"""Brokers killed, paused and restarted: what a Signal lever does in every world.

A killed broker's advertised port refuses dials before the process ends, and accepts them only once the next process
listens. Otherwise the proxy in front of the broker would keep accepting in between. With an election of 0 s others lead
before the port closes, as in a controlled shutdown: who asks for metadata because it was cut off hears of them.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from typing import Protocol

from harness.brokers.cluster import BrokerProcesses
from harness.environments.holder_counts import HolderCounts
from harness.environments.lever_table import PulledLever
from harness.environments.world import ActiveLever, WorldError
from harness.levers import ConnectionsCut, DialsRefused, Flow, RequestsUnread, Signal
from harness.sightings import ConnectionSightings, is_within

RESTART_S = 0.05
"""How long a broker that is restarted refuses dials at least: what dials again as soon as it is cut off is refused,
however fast a machine, or virtual time, starts the next process."""

StopListening = Callable[[int], AbstractAsyncContextManager[ActiveLever]]
"""A broker's advertised port has no listener while the context is entered. Evidence: DialsRefused."""

WatchData = Callable[[int, Flow], AbstractContextManager[ConnectionSightings]]
"""See every segment with payload between the client and a broker while the context is entered."""

RequestCount = Callable[[int | None, int | None], int]
"""How many requests of clients came since one moment and until another; None: no limit."""


class Losing(Protocol):
    """A broker is lost while the context is entered; counts requests that are met by that: to others, and where it
    `returns` meanwhile to itself."""

    def __call__(
        self, broker: int, *, election_s: float, returns: bool = False
    ) -> AbstractAsyncContextManager[RequestCount]: ...


class SignalLevers:
    """Pulls Signal levers. Of several on one broker, the last one to be undone brings it back."""

    def __init__(
        self,
        processes: BrokerProcesses,
        stop_listening: StopListening,
        watch_data: WatchData,
        losing: Losing,
        now_ns: Callable[[], int],
    ) -> None:
        self._processes = processes
        self._stop_listening = stop_listening
        self._watch_data = watch_data
        self._losing = losing
        self._now_ns = now_ns
        self._kills = HolderCounts()
        self._pauses: defaultdict[int, list[Callable[[], Awaitable[None]]]] = defaultdict(list)

    def pull(self, lever: Signal) -> AbstractAsyncContextManager[ActiveLever]:
        kinds = {"kill": self._kill, "pause": self._pause, "restart": self._restart}
        return kinds[lever.kind](lever.broker, lever.election_s)

    @asynccontextmanager
    async def _kill(self, broker: int, election_s: float) -> AsyncIterator[ActiveLever]:
        async with AsyncExitStack() as stack:
            answered = await stack.enter_async_context(self._losing(broker, election_s=election_s))
            if election_s == 0:
                await self._processes.hand_over(broker)
            await self._conclude_pauses(broker)
            refusing = await stack.enter_async_context(self._stop_listening(broker))
            first = self._kills.add_holder(broker)
            try:
                if first:
                    await self._processes.kill(broker, election_s=election_s)
                yield PulledLever(refusing.began_ns, self._now_ns(), _connections_cut(refusing, answered))
            finally:
                if self._kills.remove_holder(broker):
                    await self._processes.revive(broker)

    @asynccontextmanager
    async def _restart(self, broker: int, election_s: float) -> AsyncIterator[ActiveLever]:
        self._require_running(broker, "restarted")
        async with AsyncExitStack() as stack:
            # The cluster gives the old process up as soon as the new one registers.
            answered = await stack.enter_async_context(self._losing(broker, election_s=0.0, returns=True))
            if election_s == 0:
                await self._processes.hand_over(broker)
            await self._conclude_pauses(broker)
            async with self._stop_listening(broker) as refusing:
                listens_s = asyncio.get_running_loop().time() + RESTART_S
                await self._processes.kill(broker, election_s=election_s)
                await self._processes.revive(broker)
                await asyncio.sleep(listens_s - asyncio.get_running_loop().time())
            yield PulledLever(refusing.began_ns, self._now_ns(), _connections_cut(refusing, answered))

    @asynccontextmanager
    async def _pause(self, broker: int, election_s: float) -> AsyncIterator[ActiveLever]:
        self._require_running(broker, "paused")
        async with AsyncExitStack() as stack:
            requests = stack.enter_context(self._watch_data(broker, "to_broker"))
            elsewhere = await stack.enter_async_context(self._losing(broker, election_s=election_s))
            unread: RequestsUnread | None = None
            held = self._processes.held(broker)

            async def collect(since_ns: int | None, until_ns: int | None) -> RequestsUnread:
                met = elsewhere(since_ns, until_ns)
                if since_ns is None and until_ns is None:
                    left = await self._processes.unread(broker) if unread is None else 0
                    return unread or RequestsUnread(connections=left, requests=met, held=held)
                in_hands = held if is_within(began_ns, since_ns, until_ns) else 0
                left = requests.connections(since_ns, until_ns)
                return RequestsUnread(connections=left, requests=met, held=in_hands)

            async def keep() -> None:
                nonlocal unread
                found = await collect(None, None)
                unread = unread or found  # another signal may have kept it meanwhile, and ended the process

            async def conclude() -> None:
                await keep()
                await stack.aclose()  # what comes from now on meets the other signal

            began_ns = self._now_ns()
            self._pauses[broker].append(conclude)
            try:
                await self._processes.pause(broker, election_s=election_s)
                yield PulledLever(began_ns, self._now_ns(), collect)
                await keep()
            finally:
                self._pauses[broker].remove(conclude)
                if not self._pauses[broker] and self._processes.running(broker):
                    await self._processes.resume(broker)

    async def _conclude_pauses(self, broker: int) -> None:
        """Take what proves the broker's pauses, for its sockets end with its process."""
        for conclude in tuple(self._pauses[broker]):
            await conclude()

    def _require_running(self, broker: int, done: str) -> None:
        if not self._processes.running(broker):
            raise WorldError("broker-gone", f"broker {broker} cannot be {done}: another fault has killed it")


def _connections_cut(
    refusing: ActiveLever, answered: RequestCount
) -> Callable[[int | None, int | None], Awaitable[ConnectionsCut]]:
    """What a closed port has done, as the evidence of an ended process, and what `answered` counts."""

    async def collect(since_ns: int | None, until_ns: int | None) -> ConnectionsCut:
        seen = await refusing.evidence(since_ns, until_ns)
        assert isinstance(seen, DialsRefused), "that is a closed port's evidence"
        requests = answered(since_ns, until_ns)
        return ConnectionsCut(connections=seen.connections, dials=seen.dials, requests=requests)

    return collect
