"""When a formula holds, part by part, and with the values that decide it."""

import ast
from collections.abc import Iterator

from harness.explaining.configured_case import ConfiguredCase, settings_in
from harness.formulas.evaluate import Formula, condition_holds, evaluate

VERSION = "client.version"


def conjuncts(condition: str | None) -> tuple[str, ...]:
    """What has to be true together: the operands of the outermost `and`."""
    return tuple(_parts(condition)) if condition is not None else ()


def described(part: str, configured_case: ConfiguredCase, formula_text: str) -> str:
    """`Producer.Retry.Max >= 1 (it is 3)`. `formula_text` is the formula that is conditional, `sum` where the part
    has it."""
    shown = part.replace(f"({formula_text})", "sum")
    there = settings_in(shown, configured_case.plan)
    texts = {name: configured_case.settings[name].text for name in there}
    if shown != part:
        found = evaluate(formula_text, configured_case.plan)
        texts["sum"] = f"{found.number:.3f} s" if found.unit == "s" else f"{found.number:g}"
    if " or " in shown:
        shown = f"({shown})"
    if len(texts) == 1:
        ((name, text),) = texts.items()
        return f"{shown} (it is {text})" if name in shown else f"{shown} ({name} is {text})"
    return f"{shown} ({', '.join(f'{name} is {text}' for name, text in texts.items())})" if texts else shown


def failing_conjuncts(condition: str, configured_case: ConfiguredCase, formula_text: str) -> tuple[str, ...]:
    """The parts that are not so here."""
    return tuple(
        described(part, configured_case, formula_text)
        for part in conjuncts(condition)
        if not condition_holds(part, configured_case.plan)
    )


def _parts(condition: str) -> Iterator[str]:
    parsed = Formula.parse(condition).parsed

    def walk(node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for value in node.values:
                yield from walk(value)
        else:
            yield parsed.segment(node)

    return walk(parsed.tree)
