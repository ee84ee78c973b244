"""What a world asks of its cluster, whatever kind of brokers it has (held by tests/contract/test_cluster.py)."""

from collections.abc import Iterable
from typing import Protocol

from harness.cluster_view import ClusterView
from harness.levers import ClusterChange, Intercept
from harness.sightings import Sightings
from harness.story import StoredRecord


class BrokerFailed(Exception):
    """A broker could not start, has ended by itself, or does not do what it is asked; the text says which and why."""


class ClusterStateError(ValueError):
    """A cluster's state that cannot be: it says what is wrong with it."""


class LogUnreadable(Exception):
    """The log of a partition cannot be read; the text says why."""


class BrokerProcesses(Protocol):
    """The brokers of one world by their ids. Each method returns when it is done. Raises BrokerFailed."""

    def running(self, broker: int) -> bool:
        """Whether it has a process, paused or not."""
        ...

    async def hand_over(self, broker: int) -> None:
        """Have others lead what it leads, where it has replicas, as a controlled shutdown begins; then all know."""
        ...

    async def kill(self, broker: int, *, election_s: float) -> None:
        """End its process. `election_s` later the cluster elects others to lead what it led, where it has replicas."""
        ...

    async def revive(self, broker: int) -> None:
        """Start a killed one again, on its old logs; it listens on return, and others go on leading what they took."""
        ...

    async def pause(self, broker: int, *, election_s: float) -> None:
        """Have its process stand still; for `election_s` see `kill`."""
        ...

    async def resume(self, broker: int) -> None: ...

    def held(self, broker: int) -> int:
        """How many requests it has read that an intercept holds back still."""
        ...

    async def unread(self, broker: int) -> int:
        """How many connections to it have bytes that it has not read."""
        ...


class BrokerCluster(BrokerProcesses, Protocol):
    """A cluster of one kind in one world."""

    @property
    def brokers(self) -> Iterable[int]:
        """The ids of all brokers that it was started with."""
        ...

    async def ready(self) -> None:
        """On return all brokers listen. Raises BrokerFailed."""
        ...

    def state(self) -> ClusterView:
        """The cluster as its controller has it now."""
        ...

    async def change(self, change: ClusterChange) -> bool:
        """Change the cluster's state; on return every broker that runs and hears of changes has taken it.

        False where it was so before: the leader that is to lead led already.

        Raises ClusterStateError for a change that cannot be, BrokerFailed.
        """
        ...

    async def undo(self, change: ClusterChange) -> None:
        """Undo a change, whatever was changed since; returns as `change` does. Raises BrokerFailed."""
        ...

    def hold(self, broker: int) -> None:
        """Let a broker hear of no more changes."""
        ...

    async def release_state(self, broker: int) -> None:
        """Let it hear of changes again; on return it has the present state. Raises BrokerFailed."""
        ...

    def changed_ns(self) -> tuple[int, ...]:
        """When the state became another one, on the loop's clock."""
        ...

    async def read_log(self, topic: str, partition: int) -> tuple[StoredRecord, ...]:
        """Every record of a partition, in the order of the offsets, whether or not its leader runs.

        Raises LogUnreadable.
        """
        ...

    async def intercept(self, intercept: Intercept) -> int:
        """Intercept a broker's requests from now on, also once it was killed and revived.

        The number is what `release` and `interceptions` take. Raises BrokerFailed.
        """
        ...

    async def release(self, number: int) -> None:
        """Intercept nothing more under that number; answers that were held back are sent. Raises BrokerFailed."""
        ...

    def interceptions(self, number: int) -> Sightings:
        """The requests that were intercepted under that number, also by processes that were killed since."""
        ...
