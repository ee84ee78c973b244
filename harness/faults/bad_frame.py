"""Responses that are no frames of Kafka's protocol."""

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.requests import RequestFault
from harness.levers import DamagedFrame, FrameDamage, RequestsIntercepted


@fault("bad_frame")
class BadFrame(RequestFault):
    """Requests are carried out, and what comes back is no response; then the connection ends.

    As from a port that something else answers, or a broken proxy. Whether a message was written stays unknown.
    """

    proof = Proof(RequestsIntercepted)

    damage: FrameDamage = Field(
        description="The response behind a length of -1 (`negative_size`), of 2 GiB (`huge_size`) or of nothing "
        "(`zero_size`); half of it (`cut`); or other bytes in its place (`garbage`)"
    )

    def answer(self) -> DamagedFrame:
        return DamagedFrame(damage=self.damage)
