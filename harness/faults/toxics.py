"""Toxiproxy's toxics as faults: what they share, under Toxiproxy's own names."""

from collections.abc import Mapping

from pydantic import Field
from pydantic_core import PydanticCustomError

from harness.faults.links import LinkFault
from harness.levers import Flow, Lever, Toxic
from harness.quantities import duration_text

LONGEST_S = 3600.0
"""A longer wait is no scenario's: Toxiproxy counts milliseconds, and a run ends long before."""


def whole(seconds: float, unit_s: float, *, least_s: float = 0.0, longest_s: float = LONGEST_S) -> int:
    """A duration in whole units of Toxiproxy's. Raises PydanticCustomError for one that it cannot make."""
    unit = duration_text(unit_s)
    wrong, hint = "", f"write at least {duration_text(max(least_s, unit_s))}"
    if round(seconds * 1e9) % round(unit_s * 1e9):
        wrong = f"{duration_text(seconds)} is no whole number of {unit}"
    elif seconds < least_s:
        wrong = f"{duration_text(seconds)} is no time that a proxy could take"
    elif seconds > longest_s:
        wrong, hint = f"{duration_text(seconds)} is too long", f"write at most {duration_text(longest_s)}"
    if wrong:
        raise PydanticCustomError("toxic", "{text}", {"text": wrong, "hint": hint})
    return round(seconds / unit_s)


class ToxicFault(LinkFault):
    """A fault that one toxic a broker and flow makes. Not registered itself: subclasses are, by the toxic's name."""

    toxicity: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="How likely a connection is affected, in each flow by itself; also those that are open are drawn",
    )

    def attributes(self) -> Mapping[str, int]:
        """The toxic's, in Toxiproxy's own units."""
        raise NotImplementedError

    def lever(self, broker: int, flow: Flow, seed: str) -> Lever:
        attributes = tuple(self.attributes().items())
        return Toxic(broker=broker, flow=flow, kind=self.name, attributes=attributes, toxicity=self.toxicity)
