"""A broker that answers ListGroups late, in simulated and in real worlds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

from harness.environments.lever_table import PulledLever
from harness.environments.linux.levers import LINUX_LEVERS, LinuxParts
from harness.environments.sim.levers import SIM_LEVERS, SimParts
from harness.environments.world import ActiveLever
from harness.levers import DelayedResponse, Evidence, Intercept, Lever, RequestsIntercepted, lever
from harness.levers.base import quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingsHeld(Evidence):
    """`listings` were answered late."""

    name: ClassVar[str] = "listings_held"
    meaning: ClassVar[str] = "listings of groups were held back"

    listings: int = 0

    def sentence(self) -> str:
        return f"held back {quantity(self.amount, 'listing')}"


@lever("hold_listings")
@dataclass(frozen=True, slots=True, kw_only=True)
class HoldListings(Lever):
    """Answer each ListGroups to one broker so many seconds late.

    Evidence: ListingsHeld.
    """

    broker: int
    seconds: float

    @property
    def where(self) -> str:
        return f"broker {self.broker}"


@SIM_LEVERS.pulls(HoldListings)
@LINUX_LEVERS.pulls(HoldListings)
@asynccontextmanager
async def _hold_listings(parts: SimParts | LinuxParts, lever: HoldListings) -> AsyncIterator[ActiveLever]:
    table = SIM_LEVERS if isinstance(parts, SimParts) else LINUX_LEVERS
    held = Intercept(broker=lever.broker, answer=DelayedResponse(seconds=lever.seconds), api="list_groups")
    async with table.pull(parts, held) as pulled:

        async def collect(since_ns: int | None, until_ns: int | None) -> ListingsHeld:
            seen = await pulled.evidence(since_ns, until_ns)
            assert isinstance(seen, RequestsIntercepted)
            return ListingsHeld(listings=seen.requests)

        yield PulledLever(pulled.began_ns, pulled.confirmed_ns, collect)
