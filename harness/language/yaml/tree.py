"""A YAML file as a tree of nodes with places.

YAML 1.2 core rules: `on` and `1:30` are texts, so they are refused with a suggestion. Aliases are followed, up
to a limit; tags, directives and several documents are refused, because a scenario has no use for them.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NoReturn

from harness.language.yaml.compose import DEEPEST, Node, YamlSyntaxError, compose
from harness.language.yaml.problems import Problem, Span
from harness.language.yaml.scalars import Plain, core_value, source_offsets
from harness.quantities import quote_value

LARGEST_FILE = 256 * 1024
MOST_VALUES = 20_000


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A value, its place, its text, and the text as the file has it: folded over lines, in quotes."""

    value: Plain
    span: Span
    text: str = ""
    raw: str = ""

    def within(self, start: int, end: int) -> tuple[Span, ...]:
        """The places of characters start..end of the text: one span for each source line that they touch."""
        touched: dict[int, list[int]] = {}
        for offset in islice(source_offsets(self.text, self.raw), start, max(end, start + 1)):
            before = self.raw[:offset]
            lines = len(re.findall(r"\r\n|\n|\r", before))
            begin = max(before.rfind("\n"), before.rfind("\r")) + 1
            column = self.span.column + offset if not lines else offset - begin + 1
            touched.setdefault(self.span.line + lines, []).append(column)
        spans = [Span(line, min(columns), max(columns) - min(columns) + 1) for line, columns in touched.items()]
        return tuple(spans) or (self.span,)


@dataclass(frozen=True, slots=True)
class Entry:
    key: ScalarNode
    value: "Tree"


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Entries by key, in the order of the file; duplicate keys were reported and the first one kept."""

    entries: dict[str, Entry]
    span: Span

    def get(self, key: str) -> "Tree | None":
        entry = self.entries.get(key)
        return entry.value if entry else None


@dataclass(frozen=True, slots=True)
class SequenceNode:
    items: tuple["Tree", ...]
    span: Span


Tree = ScalarNode | MappingNode | SequenceNode
NodePath = tuple[str | int, ...]


def plain(tree: Tree) -> object:
    """The same as dicts, lists and values."""
    if isinstance(tree, ScalarNode):
        return tree.value
    if isinstance(tree, SequenceNode):
        return [plain(item) for item in tree.items]
    return {key: plain(entry.value) for key, entry in tree.entries.items()}


def at(tree: Tree, path: NodePath, *, key: bool = False) -> Span:
    """The place of the node at `path`, or of the nearest node around it; `key`: of its key."""
    span = tree.span
    for step in path:
        if isinstance(tree, MappingNode) and step in tree.entries:
            entry = tree.entries[str(step)]
            span = entry.key.span if key and step is path[-1] else entry.value.span
            tree = entry.value
        elif isinstance(tree, SequenceNode) and isinstance(step, int) and step < len(tree.items):
            tree = tree.items[step]
            span = tree.span
        else:
            break
    return span


def node(tree: Tree, path: NodePath) -> Tree | None:
    """The node at `path`, None where the file has none there."""
    for step in path:
        if isinstance(tree, MappingNode) and step in tree.entries:
            tree = tree.entries[str(step)].value
        elif isinstance(tree, SequenceNode) and isinstance(step, int) and step < len(tree.items):
            tree = tree.items[step]
        else:
            return None
    return tree


class InvalidYaml(Exception):
    """The text is not a single YAML document; `problems` says why."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems


def parse(source: str, path: Path) -> tuple[Tree, tuple[Problem, ...]]:
    """The file's one document, and the problems that did not keep it from being read. Raises InvalidYaml."""
    reader = _Reader(source, path)
    if len(source) > LARGEST_FILE:
        raise InvalidYaml((reader.problem(Span(1, 1), "too-large", f"the file is above {LARGEST_FILE // 1024} KiB"),))
    if nested := re.search(rf"(?:[\[{{]\s*){{{DEEPEST}}}", source):
        reader.refuse(nested.start(), "too-deep", "lists and mappings are nested too deeply")
    directive = re.search(r"^%", source, re.MULTILINE)
    node = reader.compose()
    if node is None:
        raise InvalidYaml(
            (reader.problem(Span(1, 1), "empty", "there is nothing in this file", "begin with `format: 1`"),)
        )
    if directive and directive.start() < node.start_mark.index:
        span = reader.span(directive.start(), directive.start() + 1)
        raise InvalidYaml((reader.problem(span, "yaml", "YAML directives are not used here", "remove the line"),))
    return reader.tree(node, 0), tuple(reader.problems)


class _Reader:
    """Turns nodes into trees, and their marks into lines and columns as editors count them."""

    def __init__(self, source: str, path: Path) -> None:
        self.source = source
        self.path = path
        self.problems: list[Problem] = []
        self.starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", source))]
        self.count = 0

    def compose(self) -> Node | None:
        """The node of the whole file. Raises InvalidYaml."""
        try:
            return compose(self.source)
        except YamlSyntaxError as error:
            span = self.span(error.index, error.index + 1)
            raise InvalidYaml((self.problem(span, error.code, error.message, error.hint),)) from error

    def problem(self, span: Span, code: str, message: str, hint: str = "") -> Problem:
        return Problem(self.path, span.line, span.column, span.length, code, message, hint)

    def place(self, index: int) -> tuple[int, int]:
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """From start to end, cut at the end of its first line."""
        line, column = self.place(min(start, len(self.source)))
        text = self.source[start:end]
        return Span(line, column, max(1, len(re.split(r"[\r\n]", text, maxsplit=1)[0].rstrip())))

    def refuse(self, index: int, code: str, message: str) -> NoReturn:
        raise InvalidYaml((self.problem(self.span(index, index + 1), code, message, "write it out plainly"),))

    def tree(self, node: Node, depth: int) -> Tree:
        start = node.start_mark.index
        self.count += 1
        if self.count > MOST_VALUES:
            self.refuse(start, "too-large", f"aliases make this file larger than {MOST_VALUES} values")
        if depth > DEEPEST:
            self.refuse(start, "too-deep", "nested too deeply, or an alias to itself")
        head = self.source[start : start + 1]
        if head == "&":
            start += len(re.match(r"&\S*\s*", self.source[start:]).group())  # type: ignore[union-attr]
            head = self.source[start : start + 1]
        if head == "!":
            span = self.span(start, node.end_mark.index)
            self.problems.append(self.problem(span, "yaml", "YAML tags are not used here", "remove it"))
        if node.id == "scalar":
            return self.scalar(node, start)
        if node.id == "sequence":
            return SequenceNode(tuple(self.tree(item, depth + 1) for item in node.value), self._opening(node, start))
        return self.mapping(node, start, depth)

    def _opening(self, node: Node, start: int) -> Span:
        """A collection in brackets is underlined whole; one in lines at its first character."""
        return self.span(start, node.end_mark.index if getattr(node, "flow_style", False) else start + 1)

    def mapping(self, node: Node, start: int, depth: int) -> MappingNode:
        entries: dict[str, Entry] = {}
        for key_node, value_node in node.value:
            key = self.tree(key_node, depth + 1)
            value = self.tree(value_node, depth + 1)
            if not isinstance(key, ScalarNode) or not isinstance(key.value, str):
                hint = f'put it in quotes: "{key.text}"' if isinstance(key, ScalarNode) else "a key is a word"
                self.problems.append(self.problem(key.span, "key", "a key has to be a text", hint))
            elif key.value in entries:
                first = entries[key.value].key.span.line
                message = f"{quote_value(key.value)} is given twice (first on line {first})"
                self.problems.append(self.problem(key.span, "duplicate-key", message, "remove one of them"))
            else:
                entries[key.value] = Entry(key, value)
                if isinstance(value, ScalarNode) and value.value is None:
                    message = f"{quote_value(key.value)} has no value"
                    self.problems.append(self.problem(key.span, "empty-value", message, "write one, or remove the key"))
        return MappingNode(entries, self._opening(node, start))

    def scalar(self, node: Node, start: int) -> ScalarNode:
        end = node.end_mark.index
        raw = self.source[start:end].rstrip()
        text = str(node.value)
        span = self.span(start, start + len(raw))
        if getattr(node, "style", None):  # quoted, or a block
            return ScalarNode(text, span, text, raw)
        value, wrong = core_value(text)
        if wrong:
            self.problems.append(self.problem(span, "yaml-value", *wrong))
        return ScalarNode(value, span, text, raw)
