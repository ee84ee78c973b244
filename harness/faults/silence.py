"""Requests are accepted and never answered."""

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import RequestsIntercepted
from harness.levers import Silence as NoResponse


@fault("silence")
class Silence(RequestFault):
    """Requests are accepted and never answered, as by a broker whose request handlers all hang.

    Dials succeed and the kernel acknowledges every byte, so only the client's own timeouts end the wait. Such a request
    is not carried out. Nothing behind it on its connection is answered, not even after healing; new connections are.
    """

    proof = Proof(RequestsIntercepted)
    mutes = True

    def answer(self) -> NoResponse:
        return NoResponse()
