"""Names of brokers are looked up, and the answers are late or wrong."""

from typing import Literal

from pydantic import Field, model_validator

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault, unfit
from harness.faults.brokers import Brokers, SelectorError, select_brokers
from harness.levers import DARK, DARK_IPV6, REFUSED, AnswerNames, FilterPackets, LookupsMet, PacketAction
from harness.quantities import Seconds

LONGEST_S = 120.0
"""No resolver waits for so long: Go's asks twice, for 5 s each."""


@fault("dns")
class Dns(FaultModel):
    """Look-ups of brokers' names go wrong: answers come late, empty or wrong, or name a dead address first.

    Connections that are open by then stay as they are: only who dials asks for a name. Both families are asked for, by
    UDP, at the run's own name server, which `/etc/resolv.conf` names to programs in a cell. Its answers are not to be
    kept (their TTL is 0). What was asked before healing is still answered late. The cluster must have `names: true`.
    """

    proof = Proof(LookupsMet)
    needs = "names"

    brokers: Brokers = "all"
    how: Literal["slow", "empty", "wrong", "dead_first"] = Field(
        description="`slow`: answers come `delay` later; `empty`: the name exists and has no address; `wrong`: its only"
        " address is another one; `dead_first`: an address that answers nothing, and behind it the right one"
    )
    delay: Seconds = Field(
        default=0.0, ge=0, le=LONGEST_S, description="Of `slow`: how much later answers come, such as 2s"
    )
    to: Literal["refused", "dark", "another"] = Field(
        default="refused",
        description="Of `wrong`: an address at which no process listens (`refused`), one that answers nothing (`dark`),"
        " or that of the next broker (`another`)",
    )
    family: Literal["ipv4", "ipv6"] = Field(
        default="ipv4", description="Of `dead_first`: the family of the dead address; Go dials IPv6 first"
    )

    @model_validator(mode="after")
    def _possible(self) -> "Dns":
        defaults = {name: Dns.model_fields[name].default for name in _OWN}
        stray = next((n for n, how in _OWN.items() if self.how != how and getattr(self, n) != defaults[n]), None)
        if stray is not None:
            hint = f"remove it, or write how: {_OWN[stray]}"
            raise unfit("dns", f"`{stray}` belongs to how: {_OWN[stray]}", hint, parameter=stray)
        if self.how == "slow" and self.delay < 0.001:
            raise unfit("dns", "a slow answer comes at least 1ms late", "write delay: 2s", parameter="delay")
        return self

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        answers = [
            AnswerNames(broker=broker, addresses=self._addresses(broker, view), delay_s=self.delay)
            for broker in select_brokers(self.brokers, view)
        ]
        dark = FilterPackets(broker=DARK, flow="to_broker", verdict=PacketAction.DROP)
        meets_dark = any(DARK in (answer.addresses or ()) for answer in answers)
        return tuple(Stage(lever) for lever in ([dark] if meets_dark else []) + answers)

    def _addresses(self, broker: int, view: ClusterView) -> tuple[int, ...] | None:
        match self.how:
            case "slow":
                return None
            case "empty":
                return ()
            case "dead_first":
                return (DARK_IPV6 if self.family == "ipv6" else DARK, broker)
            case "wrong":
                return (_another(broker, view) if self.to == "another" else _NO_MEMBER[self.to],)


_OWN = {"delay": "slow", "to": "wrong", "family": "dead_first"}
"""Parameters that one `how` alone has."""
_NO_MEMBER = {"dark": DARK, "refused": REFUSED}


def _another(broker: int, view: ClusterView) -> int:
    if len(view.brokers) == 1:
        raise SelectorError("no-such-broker", "there is no other broker", "write to: refused", "another")
    at = view.brokers.index(broker)
    return (view.brokers[at + 1 :] + view.brokers)[0]
