"""Values of formulas: durations, numbers, booleans and texts, without implicit conversion.

A duration keeps its parts: `2*R + D + R` is three R and one D however it is written. That is what a reader wants to
see, and what measured waits are compared with.
"""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.plan import Unit

UNIT_NAMES: dict[Unit, str] = {"s": "a duration", "count": "a number", "bool": "a truth", "text": "a text"}
LARGEST = 1e15
HIGHEST_POWER = 64


class UnitError(Exception):
    """Two operands whose units do not fit. `hint` is one suggestion, or empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class DurationTerm:
    """So many of one named duration. `setting` is its full name where it is a setting.

    `late_s`: each may come so much later, because a timer of the kernel decides it.
    """

    text: str
    setting: str | None
    count: float
    each_s: float
    late_s: float = 0.0

    def times(self, count: float) -> "DurationTerm":
        """So many of it."""
        return DurationTerm(self.text, self.setting, count, self.each_s, self.late_s)


class FormulaValue(NamedTuple):
    """`parts` are a duration's, in the order in which the formula first names them."""

    unit: Unit
    value: float | bool | str
    parts: tuple[DurationTerm, ...] = ()

    @property
    def number(self) -> float:
        assert self.unit in ("s", "count")
        return float(self.value)


def duration(text: str, each_s: float, setting: str | None = None, *, late_s: float = 0.0) -> FormulaValue:
    return FormulaValue("s", each_s, (DurationTerm(text, setting, 1.0, each_s, late_s),))


def number(value: float) -> FormulaValue:
    """Raises UnitError for a number beyond what formulas allow."""
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise UnitError("this comes to a number beyond all sense", "")
    return FormulaValue("count", float(value))


def _total(parts: tuple[DurationTerm, ...]) -> FormulaValue:
    merged: dict[str, DurationTerm] = {}
    for part in parts:
        known = merged.get(part.text)
        merged[part.text] = part if known is None else part.times(part.count + known.count)
    kept = tuple(merged.values())
    return FormulaValue("s", number(sum(part.count * part.each_s for part in kept)).number, kept)


def scale(value: FormulaValue, by: float) -> FormulaValue:
    number(by)
    return _total(tuple(part.times(part.count * by) for part in value.parts))


def add(left: FormulaValue, right: FormulaValue, sign: int = 1) -> FormulaValue:
    """Raises UnitError unless both are durations or both are numbers."""
    if left.unit == right.unit == "s":
        return _total(left.parts + scale(right, sign).parts)
    if left.unit == right.unit == "count":
        return number(left.number + sign * right.number)
    verb = "be added to" if sign > 0 else "be taken from"
    first, second = (left, right) if sign > 0 else (right, left)
    hint = "multiply it by a duration, or write its unit" if {left.unit, right.unit} == {"s", "count"} else ""
    raise UnitError(f"{UNIT_NAMES[first.unit]} cannot {verb} {UNIT_NAMES[second.unit]}", hint)


def multiply(left: FormulaValue, right: FormulaValue) -> FormulaValue:
    """Raises UnitError for two durations, booleans and texts."""
    if left.unit == right.unit == "count":
        return number(left.number * right.number)
    if {left.unit, right.unit} == {"s", "count"}:
        return scale(left, right.number) if left.unit == "s" else scale(right, left.number)
    hint = "add them, or divide one by the other" if left.unit == right.unit == "s" else ""
    raise UnitError(f"{UNIT_NAMES[left.unit]} cannot be multiplied by {UNIT_NAMES[right.unit]}", hint)


def divide(left: FormulaValue, right: FormulaValue) -> FormulaValue:
    """Duration / duration is a number. Raises UnitError where the divisor is 0."""
    if right.unit in ("s", "count") and right.number == 0:
        raise UnitError("the divisor is 0 here", "")
    if left.unit in ("s", "count") and right.unit == left.unit:
        return number(left.number / right.number)
    if left.unit == "s" and right.unit == "count":
        return scale(left, 1 / right.number)
    raise UnitError(f"{UNIT_NAMES[left.unit]} cannot be divided by {UNIT_NAMES[right.unit]}")


def power(left: FormulaValue, right: FormulaValue) -> FormulaValue:
    """Raises UnitError unless both are numbers and the exponent is a small integer."""
    if left.unit != "count" or right.unit != "count":
        raise UnitError(f"{UNIT_NAMES[left.unit]} cannot be raised to {UNIT_NAMES[right.unit]}", "only numbers can")
    if not right.number.is_integer() or not 0 <= right.number <= HIGHEST_POWER:
        raise UnitError(f"an exponent is a whole number from 0 to {HIGHEST_POWER}")
    if abs(left.number) > 1 and right.number * math.log10(abs(left.number)) > math.log10(LARGEST):
        raise UnitError("this comes to a number beyond all sense")
    return number(left.number**right.number)


VERSION = re.compile(r"\d{1,6}(\.\d{1,6})*")
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def compare(left: FormulaValue, right: FormulaValue, sign: str) -> FormulaValue:
    """Texts have an order only where both are versions: 1.9.0 < 1.27.2. Raises UnitError."""
    if left.unit != right.unit:
        raise UnitError(
            f"{UNIT_NAMES[left.unit]} cannot be compared with {UNIT_NAMES[right.unit]}", _compare_hint(left, right)
        )
    if sign in ("==", "!="):
        return FormulaValue("bool", (left.value == right.value) is (sign == "=="))
    if left.unit == "bool":
        raise UnitError("truths have no order", "compare them with == or !=")
    if left.unit == "text":
        texts = (str(left.value), str(right.value))
        if not all(VERSION.fullmatch(text) for text in texts):
            raise UnitError("texts have no order, only versions have", "compare them with == or !=")
        first, second = (_release(text) for text in texts)
        return FormulaValue("bool", ORDERS[sign](first, second))
    return FormulaValue("bool", ORDERS[sign](left.number, right.number))


def _release(text: str) -> tuple[int, ...]:
    """1.27 and 1.27.0 are the same release."""
    numbers = [int(part) for part in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _compare_hint(left: FormulaValue, right: FormulaValue) -> str:
    if {left.unit, right.unit} == {"s", "count"}:
        return "write the number's unit: 1s or 1ms"
    return "put a version in quotes: '1.27.2'" if "text" in (left.unit, right.unit) else ""
