"""Connections are reset by a proxy some time after the first bytes."""

from collections.abc import Mapping

from pydantic import Field, field_validator

from harness.faults.base import Proof, fault
from harness.faults.toxics import ToxicFault, whole
from harness.levers import ConnectionsEnded
from harness.quantities import Seconds

LONGEST_S = 5.0
"""Toxiproxy removes the toxic no sooner than its waits are over, and the lab gives it 8 s."""


@fault("reset_peer")
class ResetPeer(ToxicFault):
    """A connection ends `timeout` after its first bytes, which are lost (Toxiproxy's `reset_peer`).

    Connections dialled during the fault are reset at both ends; those that were open before are closed in order,
    because Toxiproxy prepares resets when it accepts (with a reset, too, where a request of some 100 KiB is not read to
    its end). With both flows the end takes its time in one, then in the other.
    Healing waits until every connection that has begun to end has ended. The fault `reset` resets every connection, at
    once, in the network.
    """

    proof = Proof(ConnectionsEnded)

    timeout: Seconds = Field(default=0.0, description="How long after the first bytes: whole milliseconds, up to 5s")

    @field_validator("timeout")
    @classmethod
    def _possible(cls, timeout: float) -> float:
        whole(timeout, 0.001, longest_s=LONGEST_S)
        return timeout

    def attributes(self) -> Mapping[str, int]:
        return {"timeout": whole(self.timeout, 0.001)}
