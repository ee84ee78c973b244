"""Requests are handled late."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import LateHandling, RequestsIntercepted
from harness.quantities import Seconds


@fault("slow_broker")
class SlowBroker(RequestFault):
    """Requests wait before they are handled, as in the queue of an overloaded broker.

    A message is in the log only after the wait: a client that gives up meanwhile cannot know whether it was written.
    Later requests on its connection wait too. With `slow_answer` the request is carried out at once.
    """

    proof = Proof(RequestsIntercepted)

    delay: Seconds = Field(gt=0, description="How long a request waits, such as 500ms")

    def answer(self) -> LateHandling:
        return LateHandling(seconds=self.delay)
