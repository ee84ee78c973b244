"""Nothing passes, and after a while connections are closed."""

from collections.abc import Mapping

from pydantic import Field, field_validator

from harness.faults.base import Proof, fault
from harness.faults.toxics import ToxicFault, whole
from harness.levers import BytesSwallowed
from harness.quantities import Seconds


@fault("timeout")
class Timeout(ToxicFault):
    """No data passes, and connections are closed after `timeout` without bytes (Toxiproxy's `timeout`).

    Dials succeed, and the proxy's kernel acknowledges what is sent, which is then lost for good: unlike after a
    blackhole, nothing arrives later. Idle connections are closed too. Healing closes all connections of its flows,
    including those spared by chance; who then dials again waits for some milliseconds, until all flows are
    healed.
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
