"""What travels between client and brokers arrives late."""

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.faults.flows import Flows
from harness.levers import FLOWS, DelaySeen, Toxic
from harness.quantities import Seconds, duration_text


@fault("latency")
class Latency(FaultModel):
    """What is sent arrives late: every chunk of bytes waits `delay`, give or take `jitter`, in each flow.

    The delay is made by a proxy behind the advertised address: dials complete at once, answers come late, and the
    kernel's retransmission timers do not grow as they would on a slow network.
    """

    proof = Proof(DelaySeen, scope="each_lever")

    brokers: Brokers = "all"
    flows: Flows = FLOWS
    delay: Seconds = Field(description="How late, in each flow: whole milliseconds, such as 100ms")
    jitter: Seconds = Field(
        default=0.0, description="Spread around the delay, less than it: 10ms means plus or minus 10ms"
    )

    @model_validator(mode="after")
    def _possible(self) -> "Latency":
        wrong = ""
        if self.delay < 0.001 or any(round(s * 1e9) % 1_000_000 for s in (self.delay, self.jitter)):
            wrong = "delay and jitter are whole milliseconds, the delay at least 1ms"
        elif self.jitter >= self.delay:
            wrong = f"jitter {duration_text(self.jitter)} is not less than the delay {duration_text(self.delay)}"
        if wrong:
            raise PydanticCustomError("latency", "{text}", {"text": wrong, "hint": "write delay: 100ms, jitter: 10ms"})
        return self

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        attributes = (("latency", round(self.delay * 1000)), ("jitter", round(self.jitter * 1000)))
        return tuple(
            Stage(Toxic(broker=broker, flow=flow, kind="latency", attributes=attributes))
            for broker in select_brokers(self.brokers, view)
            for flow in self.flows
        )
