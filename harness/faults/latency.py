"""What travels between client and brokers arrives late."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from harness.faults.base import Proof, fault, unfit
from harness.faults.links import LinkFault
from harness.faults.slow_dial import LONGEST_S
from harness.levers import Delays, DelaySeen, FilterPackets, Flow, Lever, PacketAction, PacketsDelayed, Toxic
from harness.quantities import Seconds, duration_text


@fault("latency")
class Latency(LinkFault):
    """Data arrives late: every chunk waits `delay`, give or take `jitter`, in each flow.

    With `via: toxiproxy` a proxy behind the advertised address delays what it forwards: dials complete at once, answers
    come late, and the kernel's retransmission timers do not grow as on a slow network. With `via: packets` each packet
    is delayed, SYNs and acknowledgements too: dials are slow, timers grow, and a large message takes several round
    trips until the kernel knows the path. Packets keep their order, whatever the jitter.
    """

    proof = Proof(DelaySeen)
    proofs: ClassVar = {("via", "packets"): Proof(PacketsDelayed)}

    delay: Seconds = Field(description="How late, in each flow: whole milliseconds, such as 100ms")
    jitter: Seconds = Field(
        default=0.0, description="Spread around the delay, less than it: 10ms means plus or minus 10ms"
    )
    via: Literal["toxiproxy", "packets"] = Field(
        default="toxiproxy",
        description="`toxiproxy`: a proxy delays bytes; `packets`: packets themselves are late, as on a slow network",
    )
    toxicity: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="With `via: toxiproxy`: how likely a connection is affected, in each flow by itself",
    )

    @model_validator(mode="after")
    def _possible(self) -> "Latency":
        wrong, parameter, hint = "", "delay", "write delay: 100ms, jitter: 10ms"
        if self.delay < 0.001 or any(round(s * 1e9) % 1_000_000 for s in (self.delay, self.jitter)):
            wrong = "delay and jitter are whole milliseconds, the delay at least 1ms"
            parameter = "delay" if self.delay < 0.001 or round(self.delay * 1e9) % 1_000_000 else "jitter"
        elif self.jitter >= self.delay:
            wrong = f"jitter {duration_text(self.jitter)} is not less than the delay {duration_text(self.delay)}"
            parameter = "jitter"
        elif self.via == "packets" and self.toxicity < 1:
            wrong = "toxicity is a proxy's: packets of every connection are late"
            parameter, hint = "toxicity", "remove it, or write via: toxiproxy"
        elif self.via == "packets" and self.delay + self.jitter > LONGEST_S:
            wrong = f"no connection survives packets that are {duration_text(self.delay + self.jitter)} late"
            hint = f"write at most {duration_text(LONGEST_S)}, jitter and all"
        if wrong:
            raise unfit("latency", wrong, hint, parameter=parameter)
        return self

    def lever(self, broker: int, flow: Flow, seed: str) -> Lever:
        if self.via == "toxiproxy":
            attributes = (("latency", round(self.delay * 1000)), ("jitter", round(self.jitter * 1000)))
            return Toxic(broker=broker, flow=flow, kind="latency", attributes=attributes, toxicity=self.toxicity)
        delays = Delays(seconds=(self.delay,), jitter_s=self.jitter, seed=seed if self.jitter else "")
        return FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DELAY, delays=delays)
