"""Parses a formula into a tree of the few nodes that formulas allow; other Python is refused with its place."""

import ast
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache

from harness.quantities import QuantityError, duration_s, quote_value

LASTS = "lasts"
"""The name of a fault's `for:` in formulas: `outage.lasts`, since `for` is a keyword."""
LONGEST = 2_000
DEEPEST = 60
LITERAL = re.compile(r"(?<![\w.])(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|ms|s|m|h))+(?![\w.])")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class FormulaError(Exception):
    """An invalid formula. `marks` are (start, end) offsets into its text, to be underlined."""

    def __init__(self, code: str, message: str, hint: str = "", *, marks: tuple[tuple[int, int], ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.marks = marks


@dataclass(frozen=True, slots=True)
class ParsedFormula:
    """`tree` holds only nodes that pass `_allowed`; `literals` are durations such as `250ms`, by their offset."""

    text: str
    tree: ast.expr
    literals: dict[int, tuple[str, float]]
    shift: int

    def mark(self, node: ast.expr) -> tuple[int, int]:
        end = node.end_col_offset if node.end_col_offset is not None else node.col_offset + 1
        return node.col_offset + self.shift, end + self.shift

    def segment(self, node: ast.expr) -> str:
        start, end = self.mark(node)
        return self.text[start:end]


@lru_cache(maxsize=1024)
def parsed(text: str) -> ParsedFormula:
    """Raises FormulaError for a text that is not an expression, or that uses more of Python than formulas allow."""
    whole = ((0, len(text)),)
    if not text.strip():
        raise FormulaError("formula", "the formula is empty", "write a setting's name, or a sum", marks=whole)
    if len(text) > LONGEST:
        raise FormulaError("formula", f"the formula has more than {LONGEST} characters", marks=whole)
    if not text.isascii():
        place = next(i for i, character in enumerate(text) if not character.isascii())
        raise FormulaError(
            "formula", f"{quote_value(text[place])} has no meaning in a formula", marks=((place, place + 1),)
        )
    literals: dict[int, tuple[str, float]] = {}
    shift = len(text) - len(text.lstrip())
    readable = "".join(" " if c.isspace() else c for c in _named(text, literals, shift)).strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(readable, mode="eval").body
    except SyntaxError as error:
        place = min(max((error.offset or 1) - 1 + shift, 0), len(text) - 1)
        hint = _syntax_hint(text)
        raise FormulaError("formula", f"this is no formula: {error.msg}", hint, marks=((place, place + 1),)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise FormulaError("formula", "this is no formula", marks=whole) from error
    result = ParsedFormula(text, tree, literals, shift)
    _check(tree, result, 0)
    return result


def _named(text: str, literals: dict[int, tuple[str, float]], shift: int) -> str:
    """Durations become names of the same length, so that offsets stay as they are."""
    quoted = [match.span() for match in QUOTED.finditer(text)]

    def name(match: re.Match[str]) -> str:
        start, end = match.span()
        if any(a <= start < b for a, b in quoted):
            return match.group()
        try:
            literals[start - shift] = (match.group(), duration_s(match.group()))
        except QuantityError as error:
            raise FormulaError("quantity", error.text, error.hint, marks=((start, end),)) from error
        return "_" * (end - start)

    return LITERAL.sub(name, text)


def lasts_hint(name: str) -> str:
    """For `outage.for`, which can only be a fault's: no client has a setting of such a name. Else empty."""
    alias, _, last = name.partition(".")
    return f"write {alias}.{LASTS}" if last == "for" else ""


def _syntax_hint(text: str) -> str:
    keyword = re.search(r"[\w.-]+\.(?:in|is|if|or|and|not|for|as|from|class|pass|with|async|await)\b[\w.-]*", text)
    if keyword:
        return lasts_hint(keyword.group()) or f'write setting("{keyword.group()}")'
    if re.search(r"(?<![=!<>])=(?!=)", text):
        return "write == to compare"
    if "&&" in text or "||" in text or "!" in text.replace("!=", ""):
        return "write and, or, not"
    if "%" in text:
        return "percentages belong to `within`"
    return ""


ALLOWED = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Name, ast.Attribute, ast.Call, ast.Constant)
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
SYNTAX_HINT = "formulas know + - * / **, comparisons, and, or, not, names and a few functions"


def _check(node: ast.expr, result: ParsedFormula, depth: int) -> None:
    start, end = result.mark(node)

    def refuse(message: str) -> FormulaError:
        return FormulaError("formula", message, SYNTAX_HINT, marks=((start, end),))

    if depth > DEEPEST:
        raise refuse("the formula is nested too deeply")
    if not isinstance(node, ALLOWED):
        raise refuse(f"{quote_value(result.segment(node), 40)} has no meaning in a formula")
    if isinstance(node, ast.BinOp) and not isinstance(node.op, OPERATORS):
        raise refuse("this operator has no meaning in a formula")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        raise refuse("this operator has no meaning in a formula")
    if isinstance(node, ast.Compare) and not all(isinstance(op, COMPARISONS) for op in node.ops):
        raise refuse("this comparison has no meaning in a formula")
    if isinstance(node, ast.Attribute) and dotted_name(node) is None:
        raise refuse(f"{quote_value(result.segment(node), 40)} is no name")
    if isinstance(node, ast.Constant) and (
        not isinstance(node.value, int | float | str | bool) or isinstance(node.value, complex)
    ):
        raise refuse(f"{quote_value(result.segment(node), 40)} has no meaning in a formula")
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name):
            raise refuse(f"{quote_value(result.segment(node.func), 40)} is no function")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise refuse("a function takes its arguments in order")
    if isinstance(node, ast.Attribute):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
            _check(child, result, depth + 1)


def dotted_name(node: ast.expr) -> str | None:
    """`Net.ReadTimeout` from Python's nodes for it; None for a node that is not a dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted_name(node.value)
        return f"{before}.{node.attr}" if before is not None else None
    return None
