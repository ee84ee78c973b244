"""TLS handshakes go wrong."""

from typing import Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import (
    TLS_HANDSHAKE,
    FlawedCertificate,
    HandshakesIntercepted,
    HangUp,
    Intercept,
    InterceptResponse,
    Silence,
)

_ANSWERS: dict[str, InterceptResponse] = {
    "stall": Silence(),
    "cut": HangUp(),
    "expired": FlawedCertificate(flaw="expired"),
    "foreign": FlawedCertificate(flaw="foreign"),
    "wrong_name": FlawedCertificate(flaw="wrong_name"),
}


@fault("tls")
class Tls(FaultModel):
    """TLS handshakes fail: they are never answered, cut, or made with a certificate that clients refuse.

    Dials succeed, and open connections stay as they are. In a handshake that stalls or is cut, the client's hello has
    arrived and nothing is sent back. The cluster must have `tls: true`.
    """

    proof = Proof(HandshakesIntercepted)
    needs = "tls"

    brokers: Brokers = "all"
    how: Literal["stall", "cut", "expired", "foreign", "wrong_name"] = Field(
        description="`stall`: nothing more comes; `cut`: the broker closes; a certificate whose time is over"
        " (`expired`), signed by no authority that the client trusts (`foreign`), or another host's"
        " (`wrong_name`)"
    )
    nth: int | None = Field(
        default=None, ge=1, description="Only the nth handshake with each broker; each one where absent"
    )

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(Intercept(broker=broker, answer=_ANSWERS[self.how], api=TLS_HANDSHAKE, nth=self.nth))
            for broker in select_brokers(self.brokers, view)
        )
