"""Formulas over a client's own settings: read, reckoned with units, and split into the terms that a reader can check.

`evaluate` and `condition_holds` need nothing but a plan.
"""

import ast
import math
from dataclasses import dataclass
from typing import NoReturn

from harness.formulas.profiles import profile_of
from harness.formulas.scope import Scope, scope_of
from harness.formulas.syntax import FormulaError, ParsedFormula, dotted_name, parsed
from harness.formulas.values import (
    UNIT_NAMES,
    FormulaValue,
    UnitError,
    add,
    compare,
    divide,
    duration,
    multiply,
    number,
    power,
    scale,
)  # fmt: skip
from harness.plan import RunPlan, Unit
from harness.records.run import Term
from harness.suggestions import did_you_mean

SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
BUILT_IN = ("min", "max", "ceil", "floor", "setting")


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
    """A formula whose spelling is right; what its names mean depends on the plan."""

    parsed: ParsedFormula

    @classmethod
    def parse(cls, text: str) -> "Formula":
        """Raises FormulaError."""
        return cls(parsed(text))

    @property
    def text(self) -> str:
        return self.parsed.text

    def evaluate(self, scope: Scope) -> Evaluated:
        """Raises FormulaError for unknown names and for units that do not go together."""
        known: Evaluated | None = scope.known.get(self.text)
        if known is None:
            known = scope.known[self.text] = self._evaluated(scope)
        return known

    def _evaluated(self, scope: Scope) -> Evaluated:
        value = _Evaluator(self.parsed, scope).value(self.parsed.tree)
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
        value = _Evaluator(self.parsed, scope).value(node).number
        text = self.parsed.segment(node)
        return [Term(text=text if sign > 0 else f"-{text}", total=sign * value)]


def evaluate(formula: Formula | str, plan: RunPlan) -> Evaluated:
    """What a formula comes to in this run. Raises FormulaError, which cannot happen for a plan made by `plans`."""
    formula = Formula.parse(formula) if isinstance(formula, str) else formula
    return formula.evaluate(scope_of(plan, profile_of(plan.client)))


def condition_holds(text: str, plan: RunPlan) -> bool:
    """Whether a condition holds in this run. Raises FormulaError, also where it is no condition."""
    return evaluate_condition(Formula.parse(text), scope_of(plan, profile_of(plan.client)))


def evaluate_condition(formula: Formula, scope: Scope) -> bool:
    """Raises FormulaError where the formula is no condition."""
    result = formula.evaluate(scope)
    if not isinstance(result.value, bool):
        message = f"`when` is a condition, not {UNIT_NAMES[result.unit]}"
        raise FormulaError("unit", message, "compare it: == != < <= > >=", marks=((0, len(formula.text)),))
    return result.value


class _Evaluator:
    """Every operand is evaluated, also behind `and` and `or`: an error must not hide behind a condition."""

    def __init__(self, text: ParsedFormula, scope: Scope) -> None:
        self.text = text
        self.scope = scope

    def value(self, node: ast.expr) -> FormulaValue:
        literal = self.text.literals.get(node.col_offset) if isinstance(node, ast.Name) else None
        if literal is not None:
            return duration(*literal)
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self._logical(node)
            case ast.Compare():
                return self._compare(node)
            case ast.Call():
                return self._call(node)
        raise AssertionError(f"{type(node).__name__} passed the check of syntax")

    def fail(self, error: UnitError, *nodes: ast.expr, code: str = "unit") -> NoReturn:
        marks = tuple(self.text.mark(node) for node in nodes)
        raise FormulaError(code, error.message, error.hint, marks=marks) from error

    def _constant(self, node: ast.Constant) -> FormulaValue:
        if isinstance(node.value, bool):
            return FormulaValue("bool", node.value)
        if isinstance(node.value, str):
            return FormulaValue("text", node.value)
        assert isinstance(node.value, int | float)
        try:
            return number(float(node.value))
        except (UnitError, OverflowError):
            self.fail(UnitError("this number is beyond all sense"), node, code="formula")

    def _name(self, node: ast.expr) -> FormulaValue:
        name = dotted_name(node)
        assert name is not None
        if name in ("true", "false"):
            return FormulaValue("bool", name == "true")
        try:
            return self.scope.find(name)
        except FormulaError as error:
            raise FormulaError(error.code, error.message, error.hint, marks=(self.text.mark(node),)) from error

    def _binary(self, node: ast.BinOp) -> FormulaValue:
        left, right = self.value(node.left), self.value(node.right)
        try:
            match node.op:
                case ast.Add():
                    return add(left, right)
                case ast.Sub():
                    return add(left, right, -1)
                case ast.Mult():
                    return multiply(left, right)
                case ast.Div():
                    return divide(left, right)
                case _:
                    return power(left, right)
        except UnitError as error:
            self.fail(error, node.left, node.right)

    def _unary(self, node: ast.UnaryOp) -> FormulaValue:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            if value.unit != "bool":
                self.fail(UnitError(f"`not` takes a truth, not {UNIT_NAMES[value.unit]}"), node.operand)
            return FormulaValue("bool", not value.value)
        if value.unit not in ("s", "count"):
            self.fail(UnitError(f"{UNIT_NAMES[value.unit]} has no sign"), node.operand)
        sign = -1 if isinstance(node.op, ast.USub) else 1
        return scale(value, sign) if value.unit == "s" else number(sign * value.number)

    def _logical(self, node: ast.BoolOp) -> FormulaValue:
        values = [self.value(operand) for operand in node.values]
        for operand, value in zip(node.values, values, strict=True):
            if value.unit != "bool":
                hint = "compare it: == != < <= > >="
                self.fail(UnitError(f"`and`, `or` take truths, not {UNIT_NAMES[value.unit]}", hint), operand)
        truths = [bool(value.value) for value in values]
        return FormulaValue("bool", all(truths) if isinstance(node.op, ast.And) else any(truths))

    def _compare(self, node: ast.Compare) -> FormulaValue:
        operands = [node.left, *node.comparators]
        values = [self.value(operand) for operand in operands]
        held = True
        for i, op in enumerate(node.ops):
            try:
                held = bool(compare(values[i], values[i + 1], SIGNS[type(op)]).value) and held
            except UnitError as error:
                self.fail(error, operands[i], operands[i + 1])
        return FormulaValue("bool", held)

    def _call(self, node: ast.Call) -> FormulaValue:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name == "setting":
            return self._setting(node)
        arguments = tuple(self.value(argument) for argument in node.args)
        if name in ("min", "max"):
            return self._extreme(node, name, arguments)
        if name in ("ceil", "floor"):
            if len(arguments) != 1 or arguments[0].unit != "count":
                self.fail(UnitError(f"{name} takes one number", f"write {name}(a / b)"), *(node.args or [node]))
            return number((math.ceil if name == "ceil" else math.floor)(arguments[0].number))
        if name not in self.scope.functions:
            hint = did_you_mean(name, [*BUILT_IN, *self.scope.functions])
            self.fail(UnitError(f"there is no function {name}", hint), node.func, code="unknown-name")
        try:
            return self.scope.call(name, arguments, self.text.segment(node))
        except FormulaError as error:
            raise FormulaError(error.code, error.message, error.hint, marks=(self.text.mark(node),)) from error

    def _setting(self, node: ast.Call) -> FormulaValue:
        argument = node.args[0] if len(node.args) == 1 else None
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            self.fail(UnitError("setting takes one name in quotes", 'write setting("linger.ms")'), node, code="formula")
        try:
            return self.scope.setting(argument.value)
        except FormulaError as error:
            raise FormulaError(error.code, error.message, error.hint, marks=(self.text.mark(argument),)) from error

    def _extreme(self, node: ast.Call, name: str, values: tuple[FormulaValue, ...]) -> FormulaValue:
        if len(values) < 2:
            self.fail(UnitError(f"{name} takes two arguments or more"), node, code="formula")
        for argument, value in zip(node.args, values, strict=True):
            if value.unit not in ("s", "count"):
                self.fail(UnitError(f"{name} takes durations or numbers, not {UNIT_NAMES[value.unit]}"), argument)
            if value.unit != values[0].unit:
                message = f"{UNIT_NAMES[values[0].unit]} and {UNIT_NAMES[value.unit]} have no {name}"
                self.fail(UnitError(message, "write units everywhere"), node.args[0], argument)
        return (min if name == "min" else max)(values, key=lambda value: value.number)
