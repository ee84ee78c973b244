"""The matrix of a scenario: its values are put into the file's tree, so that each is checked as if written in place."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from pydantic import BaseModel

from harness.language.schema import Client, Cluster
from harness.language.validation import keys_of
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Entry, MappingNode, ScalarNode, SequenceNode, Tree
from harness.plan import ResolvedValue
from harness.quantities import QuantityError, quote_value, signed_duration_s
from harness.suggestions import did_you_mean

MOST_CELLS = 500
PARTS: dict[str, type[BaseModel]] = {"client": Client, "cluster": Cluster}
Row = tuple[tuple[ScalarNode, Tree], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """The scenario as it is for one set of parameters."""

    tree: MappingNode
    parameters: tuple[ResolvedValue, ...]


def cells(tree: MappingNode, diagnostics: Diagnostics) -> tuple[Cell, ...]:
    """One cell without a matrix. Unknown keys are reported and left out."""
    matrix = tree.get("matrix")
    base = MappingNode({k: e for k, e in tree.entries.items() if k != "matrix"}, tree.span)
    if matrix is None:
        return (Cell(base, ()),)
    found: list[Cell] = []
    seen: set[tuple[ResolvedValue, ...]] = set()
    for row in _rows(matrix, diagnostics):
        cell = Cell(base, ())
        for key, value in row:
            cell = _put(cell, key, value, diagnostics)
        if cell.parameters in seen and row:
            diagnostics.add(row[0][0].span, "duplicate-row", "two rows of the matrix are alike", "remove one of them")
        seen.add(cell.parameters)
        found.append(cell)
    return tuple(found) or (Cell(base, ()),)


def _rows(matrix: Tree, diagnostics: Diagnostics) -> Iterator[Row]:
    if isinstance(matrix, MappingNode):
        yield from _product(matrix, diagnostics)
    elif isinstance(matrix, SequenceNode) and matrix.items:
        for row in matrix.items[:MOST_CELLS]:
            if isinstance(row, MappingNode) and row.entries:
                yield tuple((entry.key, entry.value) for entry in row.entries.values())
            else:
                diagnostics.add(row.span, "type", "a row of the matrix is a mapping", "write {settings.X: 1s}")
        if len(matrix.items) > MOST_CELLS:
            diagnostics.add(matrix.span, "range", f"the matrix has {len(matrix.items)} rows", f"at most {MOST_CELLS}")
    else:
        diagnostics.add(
            matrix.span, "type", "a matrix is a mapping of lists, or a list of rows", "write {settings.X: [1, 3]}"
        )


def _product(matrix: MappingNode, diagnostics: Diagnostics) -> Iterator[Row]:
    axes: list[list[tuple[ScalarNode, Tree]]] = []
    for entry in matrix.entries.values():
        if isinstance(entry.value, SequenceNode) and entry.value.items:
            axes.append([(entry.key, item) for item in entry.value.items])
        else:
            diagnostics.add(entry.value.span, "type", "a matrix key holds a list of values", "write [1, 3]")
    size = prod(len(axis) for axis in axes)
    if size > MOST_CELLS:
        diagnostics.add(matrix.span, "range", f"the matrix has {size} cells", f"at most {MOST_CELLS}")
        axes = [axis[:1] for axis in axes]
    yield from product(*axes)


def _put(cell: Cell, key: ScalarNode, value: Tree, diagnostics: Diagnostics) -> Cell:
    path = str(key.value)
    head, _, rest = path.partition(".")
    tail = ScalarNode(rest, key.within(len(head) + 1, len(path))[0] if rest else key.span, rest)
    parts = cell.tree.entries
    if head == "settings" and rest:
        changed = _with(parts.get("settings"), "settings", tail, value)
    elif head in PARTS and rest in keys_of(PARTS[head], ()):
        changed = _with(parts.get(head), head, tail, value)
    elif rest and (index := _step(cell.tree, head)) is not None and rest not in ("do", "inject", "heal", "as"):
        steps = parts["steps"]
        assert isinstance(steps.value, SequenceNode)
        step = _with(Entry(tail, steps.value.items[index]), head, tail, value).value
        items = (*steps.value.items[:index], step, *steps.value.items[index + 1 :])
        changed = Entry(ScalarNode("steps", steps.key.span, "steps"), SequenceNode(items, steps.value.span))
    else:
        hint = did_you_mean(path, _candidates(cell.tree))
        diagnostics.add(key.span, "unknown-path", f"the matrix key {quote_value(path)} names nothing here", hint)
        return cell
    tree = MappingNode({**parts, str(changed.key.value): changed}, cell.tree.span)
    return Cell(tree, (*cell.parameters, _named(path, value)))


def _with(entry: Entry | None, name: str, key: ScalarNode, value: Tree) -> Entry:
    """The mapping in `entry` with `key` set; a part that is not written at all begins to exist."""
    if entry is None:
        return Entry(ScalarNode(name, key.span, name), MappingNode({str(key.value): Entry(key, value)}, key.span))
    if not isinstance(entry.value, MappingNode):
        return entry
    entries = {**entry.value.entries, str(key.value): Entry(key, value)}
    return Entry(ScalarNode(name, entry.key.span, name), MappingNode(entries, entry.value.span))


def alias_of(step: Tree) -> str | None:
    """A step's name: its `as`, else its operation or fault. None for a heal, and for anything that is not a step."""
    if not isinstance(step, MappingNode):
        return None
    for key in ("as", "do", "inject"):
        named = step.get(key)
        if isinstance(named, ScalarNode) and isinstance(named.value, str):
            return named.value
    return None


def _step(tree: MappingNode, alias: str) -> int | None:
    steps = tree.get("steps")
    if not isinstance(steps, SequenceNode):
        return None
    return next((i for i, step in enumerate(steps.items) if alias_of(step) == alias), None)


def _candidates(tree: MappingNode) -> list[str]:
    names = [f"{part}.{key}" for part, model in PARTS.items() for key in keys_of(model, ())]
    settings, steps = tree.get("settings"), tree.get("steps")
    if isinstance(settings, MappingNode):
        names += [f"settings.{name}" for name in settings.entries]
    for step in steps.items if isinstance(steps, SequenceNode) else ():
        if isinstance(step, MappingNode) and (alias := alias_of(step)):
            names += [f"{alias}.{key}" for key in step.entries if key not in ("do", "inject", "heal", "as")]
    return names


def _named(path: str, value: Tree) -> ResolvedValue:
    if not isinstance(value, ScalarNode):
        return ResolvedValue(name=path, text=_text(value), unit="text")
    if isinstance(value.value, bool):
        return ResolvedValue(name=path, text=value.text, unit="bool", value=float(value.value))
    if isinstance(value.value, int | float):
        return ResolvedValue(name=path, text=value.text, unit="count", value=float(value.value))
    try:
        return ResolvedValue(name=path, text=value.text, unit="s", value=signed_duration_s(value.text))
    except QuantityError:
        return ResolvedValue(name=path, text=value.text, unit="text")


def _text(tree: Tree) -> str:
    if isinstance(tree, ScalarNode):
        return tree.text
    if isinstance(tree, SequenceNode):
        return f"[{', '.join(_text(item) for item in tree.items)}]"
    return "{" + ", ".join(f"{key}: {_text(entry.value)}" for key, entry in tree.entries.items()) + "}"
