"""Requests are handled late."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import LateHandling, RequestsIntercepted
from harness.quantities import Seconds


@fault("slow_broker")
class SlowBroker(RequestFault):
    """Requests wait before they are handled, as in the queue of an overloaded broker.

    A message is in the log only after the wait: whoever gives up meanwhile cannot know whether it will be. What comes
    behind such a request on its connection waits, too. With `slow_answer` the request is done at once.
    """

    proof = Proof(RequestsIntercepted)

    delay: Seconds = Field(gt=0, description="How long a request waits, such as 500ms")

    def answer(self) -> LateHandling:
        return LateHandling(seconds=self.delay)
