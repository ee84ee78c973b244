"""SASL exchanges go wrong."""

from typing import Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import ErrorAnswer, Intercept, InterceptResponse, RequestsIntercepted, Silence

_HANDSHAKE, _AUTHENTICATE = "sasl_handshake", "sasl_authenticate"
_ANSWERS: dict[str, tuple[str, InterceptResponse]] = {
    "stall": (_AUTHENTICATE, Silence()),
    "refuse": (_AUTHENTICATE, ErrorAnswer(error="SASL_AUTHENTICATION_FAILED")),
    "other_mechanisms": (_HANDSHAKE, ErrorAnswer(error="UNSUPPORTED_SASL_MECHANISM")),
}
"""The requests that are taken, and what they get."""


@fault("sasl")
class Sasl(FaultModel):
    """SASL exchanges fail: they are never answered, or clients are refused.

    Open connections stay as they are. A refused client gets the reason where the protocol has a field for it, and its
    connection is closed. The cluster must have `sasl: [...]`.
    """

    proof = Proof(RequestsIntercepted)
    needs = "sasl"

    brokers: Brokers = "all"
    how: Literal["stall", "refuse", "other_mechanisms"] = Field(
        description="`stall`: the client's first message is never answered, as where a directory of users hangs;"
        " `refuse`: whatever the credentials are; `other_mechanisms`: the broker knows none that the client names"
    )
    nth: int | None = Field(
        default=None, ge=1, description="Only the nth such request that each broker gets; each one where absent"
    )

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        api, answer = _ANSWERS[self.how]
        return tuple(
            Stage(Intercept(broker=broker, answer=answer, api=api, nth=self.nth))
            for broker in select_brokers(self.brokers, view)
        )
