"""Responses carry the correlation id of another request."""

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import RequestsIntercepted, WrongCorrelation


@fault("correlation_mismatch")
class CorrelationMismatch(RequestFault):
    """Requests are carried out and answered with another request's correlation id.

    A client that does not check the id takes the response for another request's. One that does can only close the
    connection, and does not learn whether its message was written.
    """

    proof = Proof(RequestsIntercepted)

    def answer(self) -> WrongCorrelation:
        return WrongCorrelation()
