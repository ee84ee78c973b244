"""Nothing passes, and after a while connections are closed."""

from collections.abc import Mapping

from pydantic import Field, field_validator

from harness.faults.base import Proof, fault
from harness.faults.toxics import ToxicFault, whole
from harness.levers import BytesSwallowed
from harness.quantities import Seconds


@fault("timeout")
class Timeout(ToxicFault):
    """Nothing that is sent passes, and connections are closed after `timeout` without bytes (Toxiproxy's `timeout`).

    Dials succeed, and what is sent is acknowledged by the proxy's kernel and lost for good: unlike after a blackhole
    nothing of it arrives later. An idle connection is closed, too. Healed, all connections of its flows are closed,
    also those that chance had spared.
    """

    proof = Proof(BytesSwallowed)

    timeout: Seconds = Field(
        default=0.0, description="When a connection is closed, in whole milliseconds; `0s`: not before healing"
    )

    @field_validator("timeout")
    @classmethod
    def _possible(cls, timeout: float) -> float:
        whole(timeout, 0.001)
        return timeout

    def attributes(self) -> Mapping[str, int]:
        return {"timeout": whole(self.timeout, 0.001)}
