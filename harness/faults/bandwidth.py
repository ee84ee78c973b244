"""Bytes pass at a limited rate."""

from collections.abc import Mapping

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from harness.faults.base import Proof, fault
from harness.faults.toxics import ToxicFault
from harness.levers import DelaySeen
from harness.quantities import Throughput

_KB = 1000


@fault("bandwidth")
class Bandwidth(ToxicFault):
    """Bytes pass at a limited rate, on each connection and in each flow separately (Toxiproxy's `bandwidth`).

    What a proxy has read at once (up to 32 KiB) is forwarded as a whole when its time is over, or in parts of 100 ms. A
    client's writes return while the buffers on the way have room: seconds' worth of bytes at a low rate.
    """

    proof = Proof(DelaySeen)

    rate: Throughput = Field(description="Bytes a second, in whole KB: 64KB/s")

    @field_validator("rate")
    @classmethod
    def _whole(cls, rate: int) -> int:
        if rate < _KB or rate % _KB:
            wrong = {"text": "a rate is a whole number of KB (1000 bytes) a second", "hint": "write rate: 64KB/s"}
            raise PydanticCustomError("toxic", "{text}", wrong)
        return rate

    def attributes(self) -> Mapping[str, int]:
        return {"rate": self.rate // _KB}
