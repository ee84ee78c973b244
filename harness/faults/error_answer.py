"""Requests are answered with an error."""

from typing import Annotated

from pydantic import Field, StringConstraints

from harness.faults.base import Proof, fault
from harness.faults.requests import Api, RequestFault
from harness.levers import ErrorAnswer as ErrorResponse
from harness.levers import RequestsIntercepted


@fault("error_answer")
class ErrorAnswer(RequestFault):
    """Requests are answered with a Kafka error, and none of them is carried out.

    A metadata request gets the error for each topic; any other for each partition that it names, or as a whole.
    """

    proof = Proof(RequestsIntercepted)

    api: Api = "produce"
    code: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z_]*$")] = Field(
        description="Kafka's name of the error, such as NOT_LEADER_OR_FOLLOWER"
    )

    def answer(self) -> ErrorResponse:
        return ErrorResponse(error=self.code)
