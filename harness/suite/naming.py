"""What a case is called wherever it has to be told from the others in one line: `my-producer[Producer.Retry.Max=1]`."""

from collections.abc import Sequence
from typing import Protocol

SHORTENED = ("settings", "cluster", "client")
"""Parts of a scenario whose keys are clear without the part's name."""


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
    short = [_short(parameter.name) for parameter in parameters]
    names = short if len(set(short)) == len(short) else [parameter.name for parameter in parameters]
    told = ",".join(f"{name}={_value(p.text)}" for name, p in zip(names, parameters, strict=True))
    return f"{scenario}[{told}]"


def _short(name: str) -> str:
    part, _, rest = name.partition(".")
    return rest if rest and part in SHORTENED else name


def _value(text: str) -> str:
    """`1+2` for `[1, 2]`: commas part parameters; what no terminal shows is escaped."""
    plain = text.removeprefix("[").removesuffix("]").replace(", ", "+")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)
