"""Brokers killed, paused and started again: what a Signal lever does, in whatever way its world carries that out.

A killed broker's port refuses before its process has gone, and listens only once the next process does: a proxy that
stands before the broker would otherwise go on accepting for it.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from harness.environments.holder_counts import HolderCounts
from harness.environments.world import ActiveLever, Evidence, WorldError
from harness.levers import Signal


class BrokerProcesses(Protocol):
    """The brokers of one world by their ids. Each method returns when what it does is done, and raises WorldError."""

    def running(self, broker: int) -> bool:
        """Whether it has a process, standing still or not."""
        ...

    async def kill(self, broker: int) -> None: ...

    async def revive(self, broker: int) -> None:
        """Start a killed one again, on its old logs; it listens on return."""
        ...

    async def pause(self, broker: int) -> None: ...

    async def resume(self, broker: int) -> None: ...

    async def unread(self, broker: int) -> int:
        """How many connections to it have bytes that it has not read."""
        ...


StopListening = Callable[[int], AbstractAsyncContextManager[ActiveLever]]
"""Nobody listens at a broker's advertised port while the context is entered."""


class _ActiveSignal:
    """A Signal while it is pulled."""

    def __init__(self, began_ns: int, confirmed_ns: int) -> None:
        self.began_ns = began_ns
        self.confirmed_ns = confirmed_ns
        self.seen = Evidence()

    async def evidence(self) -> Evidence:
        return self.seen


class _ActiveKill(_ActiveSignal):
    """Those whose connections it ended, and who were refused since."""

    def __init__(self, refusing: ActiveLever, confirmed_ns: int) -> None:
        super().__init__(refusing.began_ns, confirmed_ns)
        self._refusing = refusing

    async def evidence(self) -> Evidence:
        return await self._refusing.evidence()


class _ActivePause(_ActiveSignal):
    """Those who have sent something that nobody reads."""

    def __init__(self, began_ns: int, confirmed_ns: int, processes: BrokerProcesses, broker: int) -> None:
        super().__init__(began_ns, confirmed_ns)
        self._processes = processes
        self._broker = broker
        self.over = False

    async def evidence(self) -> Evidence:
        if not self.over:
            self.seen = Evidence(unread=await self._processes.unread(self._broker))
        return self.seen


class SignalLevers:
    """Pulls Signal levers, several on one broker too: the last one that is healed brings it back."""

    def __init__(self, processes: BrokerProcesses, unlistening: StopListening, now_ns: Callable[[], int]) -> None:
        self._processes = processes
        self._unlistening = unlistening
        self._now_ns = now_ns
        self._kills = HolderCounts()
        self._pauses = HolderCounts()

    def pull(self, lever: Signal) -> AbstractAsyncContextManager[ActiveLever]:
        match lever.kind:
            case "kill":
                return self._kill(lever.broker)
            case "pause":
                return self._pause(lever.broker)
            case "restart":
                return self._restart(lever.broker)

    @asynccontextmanager
    async def _kill(self, broker: int) -> AsyncIterator[ActiveLever]:
        async with self._unlistening(broker) as refusing:
            first = self._kills.add_holder(broker)
            try:
                if first:
                    await self._processes.kill(broker)
                yield _ActiveKill(refusing, self._now_ns())
            finally:
                if self._kills.remove_holder(broker):
                    await self._processes.revive(broker)

    @asynccontextmanager
    async def _restart(self, broker: int) -> AsyncIterator[ActiveLever]:
        self._require_running(broker, "restarted")
        async with self._unlistening(broker) as refusing:
            await self._processes.kill(broker)
            await self._processes.revive(broker)
            pulled = _ActiveSignal(refusing.began_ns, 0)
            pulled.seen = await refusing.evidence()
        pulled.confirmed_ns = self._now_ns()
        yield pulled

    @asynccontextmanager
    async def _pause(self, broker: int) -> AsyncIterator[ActiveLever]:
        self._require_running(broker, "paused")
        began_ns = self._now_ns()
        self._pauses.add_holder(broker)
        try:
            await self._processes.pause(broker)
            pulled = _ActivePause(began_ns, self._now_ns(), self._processes, broker)
            yield pulled
            await pulled.evidence()
            pulled.over = True
        finally:
            if self._pauses.remove_holder(broker) and self._processes.running(broker):
                await self._processes.resume(broker)

    def _require_running(self, broker: int, done: str) -> None:
        if not self._processes.running(broker):
            raise WorldError("broker-gone", f"broker {broker} cannot be {done}: another fault has killed it")
