"""Requests are done at once and answered late."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import DelayedResponse, RequestsIntercepted
from harness.quantities import Seconds


@fault("slow_answer")
class SlowAnswer(RequestFault):
    """Requests are done at once and answered late, as when replicas are slow to follow.

    A message is in the log long before its acknowledgement comes: whoever gives up meanwhile and sends it again has it
    twice. What comes behind such a request on its connection waits, too, as it does with Kafka.
    """

    proof = Proof(RequestsIntercepted)

    delay: Seconds = Field(gt=0, description="How late the answer is, such as 500ms")

    def answer(self) -> DelayedResponse:
        return DelayedResponse(seconds=self.delay)
