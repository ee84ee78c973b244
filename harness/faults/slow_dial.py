"""Dials take long, and everything else is as fast as before."""

from typing import Any

from pydantic import Field, model_validator

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault, unfit
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import Delays, DialsDelayed, FilterPackets, PacketAction, Spread
from harness.quantities import Seconds, duration_text

LONGEST_S = 120.0
"""The dialler's kernel gives up after 131 s (tcp_syn_retries = 6)."""


@fault("slow_dial")
class SlowDial(FaultModel):
    """Dials take so much longer, exactly; what is connected is as fast as before.

    The first SYN of each dial is held and then delivered, as by a path that is slow to set up: a NAT or firewall under
    load, a balancer that waits for its backend. The client's kernel meanwhile sends the SYN again, once a second, and
    to no effect. A dial whose client gave up earlier is delivered all the same: to that client it was a blackhole.
    The client's kernel takes the delay for the round-trip time, so its first retransmission on such a connection comes
    three times the delay later. Healed, dials that are held complete at once. Of twenty dials at once on two idle
    cores, half take less than 1 ms longer than declared, and 99 in 100 less than 3 ms (8 ms in the worst of several
    series); beside 16 runs that wait, 99 in 100 less than 10 ms (bench/slow_dials.py).

    Other means make no slow dial. A SYN that is dropped for a while is sent again after whole seconds. A proxy such as
    Toxiproxy accepts in its kernel before it knows of the dial: its latency makes no dial slow. It tests a slow
    first answer, against another time-out of the client's. Where Toxiproxy's own dial to the broker hangs, further
    clients of that proxy wait for it, connected. Each means set to 500 ms (bench/means_of_slow_dials.py, medians):

    | means | the dial | the first answer |
    | --- | ---: | ---: |
    | nothing | 0.6 ms | 0.7 ms |
    | Toxiproxy, latency upstream | 0.8 ms | 501.0 ms |
    | Toxiproxy, latency downstream | 0.8 ms | 501.0 ms |
    | Toxiproxy, its own dials dropped for so long | 0.7 ms | 1019.3 ms |
    | SYNs dropped for so long | 1019.4 ms | 0.6 ms |
    | `slow_dial` | 501.0 ms | 1.0 ms |
    """

    proof = Proof(DialsDelayed)

    brokers: Brokers = "all"
    delay: Seconds = Field(default=0.0, description="How much longer each dial takes, such as 700ms")
    delays: tuple[Seconds, ...] | None = Field(
        default=None,
        min_length=1,
        description="Dial by dial to each broker, in place of `delay`: [2s, 0s]; the last one for all later dials",
    )
    jitter: Seconds = Field(
        default=0.0, description="Spread of each delay by the run's seeded chance, at most the least of them"
    )
    spread: Spread = Field(
        default="uniform",
        description="`uniform`: plus or minus the jitter; `normal`: the jitter is the standard deviation",
    )

    @model_validator(mode="after")
    def _possible(self) -> "SlowDial":
        wrong, hint = "", "write delay: 700ms, or delays: [2s, 0s]"
        parameter = "delay" if self.delays is None else "delays"
        if (self.delay == 0) is (self.delays is None):
            wrong = "slow_dial takes one of delay and delays"
        elif any(round(s * 1e9) % 1_000_000 for s in (*self._seconds, self.jitter)) or not any(self._seconds):
            wrong = "delays are whole milliseconds, and one is at least 1ms"
            parameter = "jitter" if round(self.jitter * 1e9) % 1_000_000 else parameter
        elif max(self._seconds) > LONGEST_S:
            longest = duration_text(max(self._seconds))
            wrong = f"no dial takes {longest}: the kernel that dials gives up before"
            hint = f"write at most {duration_text(LONGEST_S)}, or inject blackhole"
        elif self.jitter > min(self._seconds):
            wrong = f"jitter {duration_text(self.jitter)} is more than the least delay"
            parameter, hint = "jitter", f"write at most {duration_text(min(self._seconds))}"
        if wrong:
            raise unfit("slow_dial", wrong, hint, parameter=parameter)
        return self

    @property
    def _seconds(self) -> tuple[float, ...]:
        return self.delays or (self.delay,)

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        how: dict[str, Any] = {"seconds": self._seconds, "jitter_s": self.jitter, "spread": self.spread}
        return tuple(
            Stage(
                FilterPackets(
                    broker=broker,
                    flow="to_broker",
                    only="syn",
                    verdict=PacketAction.DELAY,
                    delays=Delays(**how, seed=f"{view.seed}/{broker}" if self.jitter else ""),
                )
            )
            for broker in select_brokers(self.brokers, view)
        )
