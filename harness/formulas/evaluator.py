"""The value of a formula's tree in a scope: one method for each kind of node."""

import ast
import math
from typing import NoReturn

from harness.formulas.scope import Scope
from harness.formulas.syntax import FormulaError, ParsedFormula, dotted_name
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
from harness.suggestions import did_you_mean

SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
BUILT_IN = ("min", "max", "ceil", "floor", "setting")


class Evaluator:
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
