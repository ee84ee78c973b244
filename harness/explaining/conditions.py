"""When a formula holds, part by part, and with the values that decide it."""

import ast
from collections.abc import Iterator

from harness.explaining.situation import Situation, settings_in
from harness.language.formulas import Formula, evaluate_when

VERSION = "client.version"


def parts(condition: str | None) -> tuple[str, ...]:
    """What has to be true together: the operands of the outermost `and`."""
    return tuple(_parts(condition)) if condition is not None else ()


def told(part: str, situation: Situation) -> str:
    """`Producer.Retry.Max >= 1 (it is 3)`."""
    there = settings_in(part, situation.plan)
    texts = {name: situation.settings[name].text for name in there}
    if len(there) == 1:
        return f"{part} (it is {texts[there[0]]})" if there[0] in part else f"{part} ({there[0]} is {texts[there[0]]})"
    return f"{part} ({', '.join(f'{name} is {text}' for name, text in texts.items())})" if there else part


def why_not(condition: str, situation: Situation) -> tuple[str, ...]:
    """The parts that are not so here."""
    return tuple(told(part, situation) for part in parts(condition) if not evaluate_when(part, situation.plan))


def _parts(condition: str) -> Iterator[str]:
    parsed = Formula.parse(condition).parsed

    def walk(node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for value in node.values:
                yield from walk(value)
        else:
            yield parsed.segment(node)

    return walk(parsed.tree)
