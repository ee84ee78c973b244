"""When a world has settled: nothing is under way any more that a broker could still write to a log.

The kernel keeps delivering for a connection that a client has closed (FIN-WAIT-1), for up to 107 s after its close
on Linux: what a log holds before that has ended says nothing about what was lost. Plain asyncio over the running loop,
so that every world settles in the same way.
"""

import asyncio
from collections.abc import Awaitable, Callable

from harness.environments.world import WorldError
from harness.plan import ClusterShape
from harness.story import SettleResult

UNDER_WAY_S = 0.02
"""Bytes that have left one socket and not yet reached the next are with a proxy or a broker for less than this: the
world is checked twice, this far apart."""

_LONGEST_WAIT_S = 0.2
_PATIENCE = 20
"""Each wait is this fraction of the time that has passed: an early end is noticed soon, a late one costs few checks."""


async def settle(busy: Callable[[], Awaitable[bool]], *, limit_s: float) -> SettleResult:
    """Wait until `busy` is false twice in a row, up to `limit_s` seconds."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    quiet = 0
    while True:
        quiet = 0 if await busy() else quiet + 1
        passed_s = loop.time() - began_s
        if quiet > 1 or passed_s >= limit_s:
            return SettleResult(seconds=passed_s, complete=quiet > 1)
        wait_s = UNDER_WAY_S if quiet else max(UNDER_WAY_S, min(passed_s / _PATIENCE, _LONGEST_WAIT_S))
        await asyncio.sleep(min(wait_s, limit_s - passed_s))


def require_partition(cluster: ClusterShape, topic: str, partition: int) -> None:
    """Raises WorldError where the cluster has no such partition."""
    found = next((each for each in cluster.topics if each.name == topic), None)
    if found is None or not 0 <= partition < found.partitions:
        raise WorldError("plan-unusable", f"there is no partition {topic}-{partition} to read the log of")
