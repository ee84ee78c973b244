"""Brokers' sessions with the controller: what becomes of the partitions of one that is killed or stands still.

As with KRaft: followers of a lost broker's partitions are not affected, its own fetches stop at once, so that
acknowledgements of all replicas wait for it; when its session ends it is fenced, and others lead. Partitions with one
replica have nobody to go to: a cluster that has no others keeps naming their leader.
Source: Apache Kafka, KIP-631 (broker.session.timeout.ms, 9 s), KIP-841.
"""

import asyncio

from harness.brokers.embedded.controller import Controller
from harness.levers import FenceBroker, StopReplicating


class Sessions:
    """The sessions of a cluster's brokers with its controller."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._ending: dict[int, asyncio.Task[None]] = {}
        self._lost: set[int] = set()
        self._fenced: set[int] = set()

    def lose(self, broker: int, election_s: float) -> None:
        """It is killed or paused now; `election_s` later its session ends, with 0 at once."""
        if not self._replicates(broker) or broker in self._lost:
            return
        self._lost.add(broker)
        self._controller.change(StopReplicating(broker=broker))
        if election_s == 0:
            self._fence(broker)
        else:
            self._ending[broker] = asyncio.create_task(self._end(broker, election_s), name=f"session of {broker}")

    def regain(self, broker: int, *, restarted: bool) -> None:
        """It runs again. One that was restarted registers anew, so that others lead even before its session ended."""
        if broker not in self._lost:
            return
        self._lost.remove(broker)
        ending = self._ending.pop(broker, None)
        if ending is not None:
            ending.cancel()
        if restarted and broker not in self._fenced:
            self._fence(broker)
        self._controller.undo(StopReplicating(broker=broker))
        if broker in self._fenced:
            self._fenced.remove(broker)
            self._controller.undo(FenceBroker(broker=broker))

    def dispose(self) -> None:
        """End no more sessions."""
        for ending in self._ending.values():
            ending.cancel()
        self._ending.clear()

    async def _end(self, broker: int, election_s: float) -> None:
        await asyncio.sleep(election_s)
        del self._ending[broker]
        self._fence(broker)

    def _fence(self, broker: int) -> None:
        if self._controller.state.broker(broker) is not None:
            self._fenced.add(broker)
            self._controller.change(FenceBroker(broker=broker))

    def _replicates(self, broker: int) -> bool:
        return any(
            broker in placed.replicas and len(placed.replicas) > 1
            for topic in self._controller.state.topics
            for placed in topic.partitions
        )
