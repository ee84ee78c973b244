"""What is compared: each side is a client in an environment."""

from dataclasses import dataclass
from typing import Literal

from harness.records.agreement import Side
from harness.records.run import RunRecord


@dataclass(frozen=True, slots=True)
class SideDefinition:
    environment: str
    driver: Literal["bundled", "real"]


SIDES: dict[Side, SideDefinition] = {
    "real": SideDefinition("local", "real"),
    "profile": SideDefinition("local", "bundled"),
    "sim": SideDefinition("sim", "bundled"),
}
"""The first of those compared is the reference: a profile has to do what the real client does."""


def side_of(run: RunRecord) -> Side | None:
    """None for a program of the user, which reproduces no real client."""
    return next(
        (side for side, at in SIDES.items() if (run.environment, run.driver) == (at.environment, at.driver)), None
    )
