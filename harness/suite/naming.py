"""The one-line name that distinguishes a case from all others: `my-producer[Producer.Retry.Max=1]`."""

from collections.abc import Sequence
from typing import Protocol

from harness.records.short_names import without_kind


class Parameter(Protocol):
    """A parameter of a plan or of a record."""

    @property
    def name(self) -> str: ...

    @property
    def text(self) -> str: ...


def case_id(scenario: str, parameters: Sequence[Parameter]) -> str:
    """The scenario's name and, in brackets, the parameters in the order of the matrix; no other case has the same.

    Settings go by their own full names; only where two would be called alike does the part's name stay.
    """
    if not parameters:
        return scenario
    short = [without_kind(parameter.name) for parameter in parameters]
    names = short if len(set(short)) == len(short) else [parameter.name for parameter in parameters]
    shown = ",".join(f"{name}={_value(p.text)}" for name, p in zip(names, parameters, strict=True))
    return f"{scenario}[{shown}]"


def _value(text: str) -> str:
    """`1+2` for `[1, 2]`: commas part parameters; what no terminal shows is escaped."""
    plain = text.removeprefix("[").removesuffix("]").replace(", ", "+")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)
