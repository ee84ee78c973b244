"""Protects levers from outside the tree: their own evidence proves a fault, and environments pull or refuse them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

import pytest

from harness.brokers.kind import EMBEDDED
from harness.cluster_view import ClusterView
from harness.conductor.proof import check_proof
from harness.environments.lever_table import LeverTable, PulledLever
from harness.environments.world import ActiveLever, Supported, Unsupported
from harness.faults.base import FaultModel, Proof, Stage
from harness.levers import LEVERS, Evidence, FilterPackets, Lever, PacketAction, PacketsDropped, lever


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockShifted(Evidence):
    """Readings of the clock that were wrong."""

    name: ClassVar[str] = "clock_shifted"
    meaning: ClassVar[str] = "clocks were read wrong"

    readings: int = 0

    def sentence(self) -> str:
        return f"shifted {self.readings} readings of the clock"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftClock(Lever):
    """Shift the clock of the client."""

    name: ClassVar[str] = "shift_clock"
    seconds: float

    @property
    def where(self) -> str:
        return "the client"

    @property
    def enough(self) -> float:
        return 2.0


class WrongTime(FaultModel):
    """The client's clock is wrong."""

    name: ClassVar[str] = "wrong_time"
    proof = Proof(ClockShifted, scope="each_lever")

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return (Stage(ShiftClock(seconds=1.0)), Stage(ShiftClock(seconds=2.0), after_s=1.0))


SHIFT, DROP = ShiftClock(seconds=1.0), FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)


@pytest.mark.parametrize(
    ("seen", "count", "proven", "finding"),
    [
        ([2, 3], 5, True, "shifted 5 readings of the clock"),
        ([2, 1], 3, False, "shifted 3 readings of the clock, but too little at the client: not all was tested"),
        ([1, 1], 2, False, "shifted 2 readings of the clock, less than the 2 that would prove it: nothing was tested"),
        ([0, 0], 0, False, "shifted 0 readings of the clock: nothing was tested"),
    ],
)
def test_its_evidence_adds_up_and_proves_a_fault(seen: list[int], count: int, proven: bool, finding: str) -> None:
    found = check_proof(WrongTime(), [(SHIFT, ClockShifted(readings=number)) for number in seen])
    assert (found.count, found.proven, found.finding) == (count, proven, finding)


def test_evidence_of_another_kind_proves_nothing() -> None:
    assert not check_proof(WrongTime(), [(SHIFT, PacketsDropped(packets=9))]).proven


def test_an_environment_pulls_what_is_in_its_table_and_refuses_the_rest_with_a_reason() -> None:
    table: LeverTable[list[str]] = LeverTable()
    assert table.supports(SHIFT, EMBEDDED) == Unsupported("pull the lever shift_clock: it has no way to do that")

    @table.pulls(ShiftClock, lambda lever: "shift a clock back" if lever.seconds < 0 else None)
    @asynccontextmanager
    async def shift_clock(parts: list[str], lever: ShiftClock) -> AsyncIterator[ActiveLever]:
        async def collect(since_ns: int | None, until_ns: int | None) -> ClockShifted:
            return ClockShifted(readings=7)

        parts.append("shifted")
        yield PulledLever(1, 2, collect)
        parts.append("back")

    assert table.supports(SHIFT, EMBEDDED) == Supported()
    assert table.supports(ShiftClock(seconds=-1.0), EMBEDDED) == Unsupported("shift a clock back")
    assert isinstance(table.supports(DROP, EMBEDDED), Unsupported)
    done: list[str] = []

    async def body() -> None:
        async with table.pull(done, SHIFT) as pulled:
            assert done == ["shifted"]
            assert await pulled.evidence() == ClockShifted(readings=7)

    asyncio.run(body())
    assert done == ["shifted", "back"]


def test_no_two_levers_share_a_name() -> None:
    assert {"packets", "toxic", "listener", "signal", "intercept"} <= set(LEVERS)
    with pytest.raises(ValueError, match="two levers are called packets"):
        lever("packets")(ShiftClock)
