"""Bytes arrive in small pieces."""

from collections.abc import Mapping

from pydantic import Field, field_validator, model_validator

from harness.faults.base import Proof, fault, unfit
from harness.faults.toxics import ToxicFault, whole
from harness.levers import BytesSliced
from harness.quantities import Seconds, Size


@fault("slicer")
class Slicer(ToxicFault):
    """Bytes arrive in small pieces, one after another (Toxiproxy's `slicer`).

    What a proxy has read at once is halved until pieces are no longer than `average_size` plus `size_variation`; it
    waits `delay` after each, in whole milliseconds: up to 1 ms all delays are the same, of less than 1.2 ms a piece.
    This finds clients that take one read for one response.
    """

    proof = Proof(BytesSliced)

    average_size: Size = Field(gt=0, description="About how large a piece is, such as 64B")
    size_variation: Size = Field(default=0, description="By how much sizes vary, less than the average")
    delay: Seconds = Field(default=0.0, description="Wait after each piece: whole microseconds, such as 10ms")

    @field_validator("delay")
    @classmethod
    def _possible(cls, delay: float) -> float:
        whole(delay, 1e-6)
        return delay

    @model_validator(mode="after")
    def _fits(self) -> "Slicer":
        if self.size_variation >= self.average_size:
            text = "size_variation is not less than average_size"
            raise unfit("toxic", text, "write size_variation: 0B", parameter="size_variation")
        return self

    def attributes(self) -> Mapping[str, int]:
        sizes = {"average_size": self.average_size, "size_variation": self.size_variation}
        return {**sizes, "delay": whole(self.delay, 1e-6)}
