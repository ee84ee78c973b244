"""Formulas over a client's settings: parsed, evaluated with units, and split into the terms that a reader can check.

`evaluate` and `condition_holds` need nothing but a plan.
"""

import ast
from dataclasses import dataclass

from harness.formulas.evaluator import Evaluator
from harness.formulas.profiles import profile_of
from harness.formulas.scope import Scope, scope_of
from harness.formulas.syntax import FormulaError, ParsedFormula, parsed
from harness.formulas.values import (
    UNIT_NAMES,
)  # fmt: skip
from harness.plan import RunPlan, Unit
from harness.records.run import Term


@dataclass(frozen=True, slots=True)
class Evaluated:
    """`value` is seconds for a duration (`unit == "s"`). `terms` add up to it.

    A duration's terms are one for each setting it waits on, with how many of it: `2*R + D + R` has two. A number's are
    the addends as written. Where timers of the kernel decide, a duration may be up to `early_s` less or `late_s` more.
    """

    value: float | bool | str
    unit: Unit
    terms: tuple[Term, ...]
    early_s: float = 0.0
    late_s: float = 0.0

    @property
    def number(self) -> float:
        """A duration's seconds, or a number."""
        assert self.unit in ("s", "count"), "a truth or a text has no number"
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula with valid syntax; what its names mean depends on the plan."""

    parsed: ParsedFormula

    @classmethod
    def parse(cls, text: str) -> "Formula":
        """Raises FormulaError."""
        return cls(parsed(text))

    @property
    def text(self) -> str:
        return self.parsed.text

    def evaluate(self, scope: Scope) -> Evaluated:
        """Raises FormulaError for unknown names and for units that do not fit."""
        known: Evaluated | None = scope.known.get(self.text)
        if known is None:
            known = scope.known[self.text] = self._evaluated(scope)
        return known

    def _evaluated(self, scope: Scope) -> Evaluated:
        value = Evaluator(self.parsed, scope).value(self.parsed.tree)
        if value.unit == "s":
            terms = tuple(
                Term(text=p.text, setting=p.setting, count=p.count, each=p.each_s, total=p.count * p.each_s)
                for p in value.parts
                if p.count
            )
        elif value.unit == "count":
            terms = tuple(self._addends(self.parsed.tree, scope, 1))
        else:
            terms = ()
        late_s = [part.count * part.late_s for part in value.parts]
        return Evaluated(
            value.value, value.unit, terms,
            early_s=sum(-late for late in late_s if late < 0), late_s=sum(late for late in late_s if late > 0),
        )  # fmt: skip

    def _addends(self, node: ast.expr, scope: Scope, sign: int) -> list[Term]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            right = sign if isinstance(node.op, ast.Add) else -sign
            return self._addends(node.left, scope, sign) + self._addends(node.right, scope, right)
        value = Evaluator(self.parsed, scope).value(node).number
        text = self.parsed.segment(node)
        return [Term(text=text if sign > 0 else f"-{text}", total=sign * value)]


def evaluate(formula: Formula | str, plan: RunPlan) -> Evaluated:
    """The value of a formula in this run. Raises FormulaError, which cannot happen for a plan made by `plans`."""
    formula = Formula.parse(formula) if isinstance(formula, str) else formula
    return formula.evaluate(scope_of(plan, profile_of(plan.client)))


def condition_holds(text: str, plan: RunPlan) -> bool:
    """Whether a condition holds in this run. Raises FormulaError, also for a formula that is not a condition."""
    return evaluate_condition(Formula.parse(text), scope_of(plan, profile_of(plan.client)))


def evaluate_condition(formula: Formula, scope: Scope) -> bool:
    """Raises FormulaError for a formula that is not a condition."""
    result = formula.evaluate(scope)
    if not isinstance(result.value, bool):
        message = f"`when` is a condition, not {UNIT_NAMES[result.unit]}"
        raise FormulaError("unit", message, "compare it: == != < <= > >=", marks=((0, len(formula.text)),))
    return result.value
