"""Formulas that have a name, each written once, with what every term of them means.

A scenario cites one as `equals: formula(established_blackhole)`; `explain` prints its terms, meanings and source.
"""

import re
from dataclasses import dataclass, replace
from itertools import accumulate

from harness.formulas.evaluate import Formula
from harness.formulas.scope import Scope
from harness.formulas.values import duration, number

CITATION = re.compile(r"\s*formula\(\s*['\"]?([A-Za-z][A-Za-z0-9_]*)['\"]?\s*\)\s*")
PLUS = " + "
SUM = re.compile(r"(?<![\w.])sum(?![\w.(])")
"""The name of the whole formula in its own condition."""


@dataclass(frozen=True, slots=True)
class FormulaTerm:
    """One addend as written, and what the client does in that time."""

    text: str
    meaning: str


@dataclass(frozen=True, slots=True)
class NamedFormula:
    """`text` is the sum of the terms. `error` is what the caller gets.

    `condition` says when the formula applies, as written. `sum` in it is the formula itself.
    """

    name: str
    about: str
    terms: tuple[FormulaTerm, ...]
    condition: str | None
    error: str | None
    source: str

    @property
    def text(self) -> str:
        return PLUS.join(term.text for term in self.terms)

    @property
    def holds_when(self) -> str | None:
        """The condition with the formula's text in place of `sum`."""
        return None if self.condition is None else SUM.sub(f"({self.text})", self.condition)

    def term_at(self, offset: int) -> tuple[int, int]:
        """The index of the term that has a character of `text`, and the offset in `text` at which that term begins."""
        starts = [0, *accumulate(len(term.text) + len(PLUS) for term in self.terms)]
        index = max(i for i in range(len(self.terms)) if starts[i] <= offset)
        return index, starts[index]

    def condition_scope(self, scope: Scope) -> Scope:
        """The scope of `condition`, in which `sum` has a value if it is used. Raises FormulaError of the formula."""
        if self.condition is None or not SUM.search(self.condition):
            return scope
        whole = Formula.parse(self.text).evaluate(scope)
        value = duration("sum", whole.number) if whole.unit == "s" else number(whole.number)
        return replace(scope, other_names={**scope.other_names, "sum": value}, known={})


def cited(text: str) -> str | None:
    """The name in `formula(name)`, None for any other text."""
    match = CITATION.fullmatch(text)
    return match[1] if match else None
