"""What a measure is: a pure function from a plan and its story to a value, a lower bound, or the reason for neither."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from client.registry import Registry
from harness.operations import Operation, names_where
from harness.plan import RunPlan
from harness.story import Story

MeasureUnit = Literal["s", "count"]


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """It was measured: seconds, or a count. `wire`: it was seen on the wire, the client tells nothing of it."""

    value: float
    wire: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Censored:
    """It had not ended when the lab stopped looking: it is at least this."""

    at_least: float
    wire: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Missing:
    """There is nothing to measure; `reason` is a clause for people."""

    reason: str


MeasureResult = MeasuredValue | Censored | Missing
MeasureFunction = Callable[[RunPlan, Story, str, str | None], MeasureResult]
"""Takes plan, story, the alias of the operation or fault (`run` for the whole run), and the argument in brackets."""

WHOLE_RUN = "run"
"""What stands before the dot where a measure is that of the whole run: `run.zombies`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDefinition:
    """`applies_to` says which operations it makes sense for; `argument` says what stands in brackets, None: nothing.

    `faults`: it is measured of a fault; `run`: of the whole run too. `integrity`: it takes the log of a settled world.
    """

    name: str
    unit: MeasureUnit
    about: str
    applies_to: Callable[[Operation], bool]
    measure: MeasureFunction
    argument: Literal["setting"] | None = None
    faults: bool = False
    run: bool = False
    integrity: bool = False

    @property
    def of(self) -> str:
        """What it is measured of, for people: `connect, send`, `faults`."""
        return ", ".join(
            (*names_where(self.applies_to), *(["a fault"] if self.faults else []), *(["run"] if self.run else []))
        )


class MeasureName(NamedTuple):
    """`probe.time_to_error` or `probe.waits(Net.ReadTimeout)`, taken apart."""

    alias: str
    measure: str
    argument: str | None = None

    def __str__(self) -> str:
        return f"{self.alias}.{self.measure}" + (f"({self.argument})" if self.argument is not None else "")


_SPELLING = re.compile(r"(?P<alias>[^\s.()]+)\.(?P<measure>\w+)(?:\(\s*(?P<argument>[^()]*?)\s*\))?")


@lru_cache(maxsize=1024)
def parse(text: str) -> MeasureName:
    """Take a measure's name apart. Raises ValueError where it is not spelt `<step>.<measure>[(<setting>)]`."""
    found = _SPELLING.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not spelt <step>.<measure> or <step>.<measure>(<setting>)")
    return MeasureName(found["alias"], found["measure"], found["argument"])


MEASURES: Registry[MeasureDefinition] = Registry("measures", "harness.measures")
"""Every measure by the name that scenarios use."""


def any_operation(_operation: Operation) -> bool:
    return True


def any_call(operation: Operation) -> bool:
    """Operations during which a client is at work."""
    return operation.op is not None


def deliveries(operation: Operation) -> bool:
    """Operations that deliver a message."""
    return operation.delivers


def no_operation(_operation: Operation) -> bool:
    return False


def measure(
    *,
    unit: MeasureUnit,
    about: str,
    applies_to: Callable[[Operation], bool] = any_call,
    argument: Literal["setting"] | None = None,
    faults: bool = False,
    run: bool = False,
    integrity: bool = False,
) -> Callable[[MeasureFunction], MeasureFunction]:
    """Register a function as the measure of its own name. Raises ValueError where the name is taken."""

    def register(function: MeasureFunction) -> MeasureFunction:
        name = function.__name__
        definition = MeasureDefinition(
            name=name, unit=unit, about=about, applies_to=applies_to, argument=argument, faults=faults, run=run,
            integrity=integrity, measure=function,
        )  # fmt: skip
        MEASURES.add(name, definition)
        return function

    return register
