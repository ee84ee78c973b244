"""Listing consumer groups takes long."""

from faultlab_example.levers import HoldListings, ListingsHeld
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.quantities import Seconds


@fault("slow_listing")
class SlowListing(FaultModel):
    """One broker answers ListGroups late."""

    proof = Proof(ListingsHeld)

    broker: int = 1
    delay: Seconds = 1.0

    def stages(self, _view: object) -> tuple[Stage, ...]:
        return (Stage(HoldListings(broker=self.broker, seconds=self.delay)),)
