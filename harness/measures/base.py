"""What a measure is: a pure function from a run to a value, a lower bound, or the reason for neither."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from client.registry import Registry
from harness.measures.names import MeasureName
from harness.measures.results import MeasureResult
from harness.measures.run_view import RunView
from harness.operations import Operation, names_where

MeasureUnit = Literal["s", "count", "text"]

MeasureFunction = Callable[[RunView, str, str | None], MeasureResult]
"""Takes the run, the alias of the operation or fault (`run` for the whole run), and the argument in brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDefinition:
    """`applies_to` selects the operations that it is measured of; `argument` is the kind of its argument in brackets.

    `faults`: it is measured of faults. `run`: it is measured of the whole run. `integrity`: it needs the log of a
    settled world. `words`: of a measure whose unit is `text`, all that it can give.
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
    words: tuple[str, ...] = ()

    @property
    def of(self) -> str:
        """What it is measured of, as messages print it: `connect, send`, `a fault`."""
        return ", ".join(
            (*names_where(self.applies_to), *(["a fault"] if self.faults else []), *(["run"] if self.run else []))
        )


MEASURES: Registry[MeasureDefinition] = Registry("measures", "harness.measures")
"""Every measure by the name that scenarios use."""


def take(run: RunView, name: MeasureName) -> MeasureResult:
    """Take a measure of a run, once. Raises KeyError for one that does not exist: validation refuses those."""
    found = run.taken.get(name)
    if found is None:
        alias, measure_name, argument = name
        found = run.taken[name] = MEASURES[measure_name].measure(run, alias, argument)
    return found


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
    words: tuple[str, ...] = (),
) -> Callable[[MeasureFunction], MeasureFunction]:
    """Register a function as the measure of its own name. Raises ValueError where the name is taken."""

    def register(function: MeasureFunction) -> MeasureFunction:
        name = function.__name__
        definition = MeasureDefinition(
            name=name, unit=unit, about=about, applies_to=applies_to, argument=argument, faults=faults, run=run,
            integrity=integrity, words=words, measure=function,
        )  # fmt: skip
        MEASURES.add(name, definition)
        return function

    return register
