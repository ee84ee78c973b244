"""Requests are accepted and never answered."""

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import RequestsIntercepted
from harness.levers import Silence as NoResponse


@fault("silence")
class Silence(RequestFault):
    """Requests are accepted and never answered, as by a broker whose request handlers all hang.

    Dials succeed, and the kernel acknowledges every byte, so that only the client's own time-outs end the wait. Nothing
    of such a request is done, and nothing behind it on its connection is answered, after healing neither: whoever dials
    anew is.
    """

    proof = Proof(RequestsIntercepted)
    mutes = True

    def answer(self) -> NoResponse:
        return NoResponse()
