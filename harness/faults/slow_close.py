"""Connections are closed late."""

from collections.abc import Mapping

from pydantic import Field, field_validator

from harness.faults.base import Proof, fault
from harness.faults.toxics import ToxicFault, whole
from harness.levers import EndHeld
from harness.quantities import Seconds


@fault("slow_close")
class SlowClose(ToxicFault):
    """The end of a connection arrives late; data sent before it does not (Toxiproxy's `slow_close`).

    A peer keeps waiting until it learns that the other end has closed, and what it still sends is accepted. The proxy
    of a broker that `kill` or `restart` strikes ends with it: such an end is not held. Once healed, delayed ends arrive
    at once.
    """

    proof = Proof(EndHeld)

    delay: Seconds = Field(description="How late: whole milliseconds, such as 500ms")

    @field_validator("delay")
    @classmethod
    def _possible(cls, delay: float) -> float:
        whole(delay, 0.001, least_s=0.001)
        return delay

    def attributes(self) -> Mapping[str, int]:
        return {"delay": whole(self.delay, 0.001)}
