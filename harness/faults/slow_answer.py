"""Requests are done at once and answered late."""

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import DelayedResponse, RequestsIntercepted
from harness.quantities import Seconds, duration_text

SHORTEST_S = 0.001
"""What is less is no effect that anybody could measure."""


@fault("slow_answer")
class SlowAnswer(RequestFault):
    """Requests are carried out at once and answered late, as when replicas are slow to follow.

    A message is in the log long before its acknowledgement arrives: a client that gives up and sends it again writes it
    twice. Later requests on the connection wait too, as with Kafka.
    """

    proof = Proof(RequestsIntercepted)

    delay: Seconds = Field(gt=0, description="How late the answer is, such as 500ms")

    @field_validator("delay")
    @classmethod
    def _measurable(cls, delay: float) -> float:
        if delay < SHORTEST_S:
            text = f"{duration_text(delay)} is no delay that could be measured: it is at least 1ms"
            raise PydanticCustomError("slow_answer", "{text}", {"text": text, "hint": "write delay: 500ms"})
        return delay

    def answer(self) -> DelayedResponse:
        return DelayedResponse(seconds=self.delay)
