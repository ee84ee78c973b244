"""Settings that come from outside of the file: put into its tree, so that each is checked as if written in place."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.scalars import core_value
from harness.language.yaml.tree import Entry, MappingNode, ScalarNode, SequenceNode, Tree, at
from harness.quantities import quote_value


def with_overrides(tree: MappingNode, settings: Mapping[str, str], diagnostics: Diagnostics) -> MappingNode:
    """The scenario with these settings, given as text, in place of its own or beside them.

    What is wrong with one stands on the command line, not in the file: it is shown there, and is the same whichever
    scenario it is put into. A setting of the matrix cannot be given too: the cases would no longer be what they are
    called.
    """
    given = tree.get("settings")
    if not settings or not (given is None or isinstance(given, MappingNode)):
        return tree
    entries = dict(given.entries) if given is not None else {}
    for name, text in settings.items():
        span = replace(at(tree, ("settings", name), key=name not in entries), given=f"--set {name}={text}")
        value, wrong = core_value(text)
        entries[name] = Entry(ScalarNode(name, span, name), ScalarNode(text if wrong else value, span, text, text))
    for key in _matrix_keys(tree.get("matrix")):
        name = str(key.value).removeprefix("settings.")
        if name in settings and name != key.value:
            message = f"{quote_value(name)} is set from outside, and the matrix has it too"
            diagnostics.add(key.span, "override", message, "leave it to the matrix, and choose a case")
    place = at(tree, ("settings",), key=True)
    entry = Entry(ScalarNode("settings", place, "settings"), MappingNode(entries, at(tree, ("settings",))))
    return MappingNode({**tree.entries, "settings": entry}, tree.span)


def _matrix_keys(matrix: Tree | None) -> Iterator[ScalarNode]:
    for rows in matrix.items if isinstance(matrix, SequenceNode) else (matrix,):
        if isinstance(rows, MappingNode):
            yield from (entry.key for entry in rows.entries.values())
