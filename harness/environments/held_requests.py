"""A request that is held in its broker: what a fault with a trigger waits for in every world."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from harness.brokers.cluster import BrokerCluster
from harness.event import OneShotEvent
from harness.levers import Intercept


@asynccontextmanager
async def holding_request(brokers: BrokerCluster, request: Intercept) -> AsyncIterator[OneShotEvent]:
    """Hold back the request that this intercept means until the context is left. The event happens when it has come.

    Raises BrokerFailed.
    """
    came = OneShotEvent()
    number = await brokers.intercept(request)
    try:
        seen = brokers.interceptions(number)
        seen.notify = came.set
        if seen.total:
            came.set()
        yield came
    finally:
        await brokers.release(number)
