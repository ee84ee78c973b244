"""Turns pydantic's findings into problems, each at its place in the file."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.language.schema import PATTERN_HINTS
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Entry, MappingNode, NodePath, ScalarNode, SequenceNode, Tree, at, plain
from harness.quantities import quote_value
from harness.suggestions import did_you_mean

Model = TypeVar("Model", bound=BaseModel)


def parse_model(model: type[Model], tree: Tree, diagnostics: Diagnostics) -> Model | None:
    """The tree as a model, None where it does not fit; `diagnostics` has every reason."""
    if not isinstance(tree, MappingNode):
        diagnostics.add(tree.span, "type", f"a mapping is wanted here, not {_kind(tree)}", "write key: value")
        return None
    try:
        return model.model_validate(plain(tree))
    except ValidationError as error:
        findings = error.errors(include_url=False)
        meant = {hint for finding in findings if (hint := _meant(finding, model, tree))}
        for finding in findings:
            if finding["type"] != "missing" or _place(finding, tree) not in meant:
                _note(finding, model, tree, diagnostics)
        return None


def entries_beside(tree: MappingNode, model: type[BaseModel]) -> dict[str, Entry]:
    """Entries that are not keys of the model: arguments of a step's operation, parameters of its fault."""
    known = keys_of(model, ())
    return {key: entry for key, entry in tree.entries.items() if key not in known}


def _meant(finding: Any, model: type[BaseModel], tree: Tree) -> NodePath | None:
    """The path of the key that an unknown key was probably meant to be. That one is not also reported as missing."""
    if finding["type"] != "extra_forbidden":
        return None
    loc = _place(finding, tree)
    hint = _key_hint(loc, model, tree)
    return (*loc[:-1], hint.removeprefix("did you mean ").removesuffix("?")) if hint.startswith("did") else None


def _place(finding: Any, tree: Tree) -> NodePath:
    """Where it is in the file: without the names that pydantic adds for the members of a union."""
    if not finding["loc"]:
        return ()  # it is about the mapping as a whole
    *around, last = finding["loc"]
    path: list[str | int] = []
    for step in around:
        if isinstance(tree, MappingNode) and isinstance(step, str):
            if step not in tree.entries:
                continue
            tree = tree.entries[step].value
        elif isinstance(tree, SequenceNode) and isinstance(step, int) and step < len(tree.items):
            tree = tree.items[step]
        path.append(step)
    if around and isinstance(last, str) and not isinstance(tree, MappingNode):
        return tuple(path)  # the value is of no member's shape
    return (*path, last)


def _key_hint(loc: NodePath, model: type[BaseModel], tree: Tree) -> str:
    names = [name for name in keys_of(model, loc[:-1]) if name not in _given(tree, loc[:-1])]
    return did_you_mean(str(loc[-1]), names)


def _note(finding: Any, model: type[BaseModel], tree: Tree, diagnostics: Diagnostics) -> None:
    kind: str = finding["type"]
    loc = _place(finding, tree)
    context: Mapping[str, Any] = finding.get("ctx", {})
    if kind == "missing":
        where = at(tree, loc[:-1])
        owner = f" in `{loc[-2]}`" if len(loc) > 1 and isinstance(loc[-2], str) else ""
        diagnostics.add(where, "missing-key", f"`{loc[-1]}` is missing{owner}", f"add {loc[-1]}: ...")
    elif kind == "extra_forbidden":
        hint = _key_hint(loc, model, tree)
        diagnostics.add(at(tree, loc, key=True), "unknown-key", f"there is no key {quote_value(loc[-1])} here", hint)
    elif "text" in context and "hint" in context:
        diagnostics.add(at(tree, loc), kind, str(context["text"]), str(context["hint"]))
    else:
        code, message, hint = _describe(kind, finding, context)
        # An empty value was reported at its key; problems at one place are reported once.
        diagnostics.add(at(tree, loc, key=finding.get("input") is None), code, message, hint)


def _describe(kind: str, finding: Any, context: Mapping[str, Any]) -> tuple[str, str, str]:
    given = finding.get("input")
    text = (
        quote_value(given)
        if not isinstance(given, dict | list)
        else "a mapping"
        if isinstance(given, dict)
        else "a list"
    )
    if given is None:
        text = "nothing"
    if kind == "string_type":
        hint = f"put it in quotes: '{given}'" if isinstance(given, int | float) else ""
        return "type", f"a text is wanted here, not {text}", hint
    if kind in ("int_type", "int_from_float", "int_parsing"):
        return "type", f"a whole number is wanted here, not {text}", "write digits without quotes"
    if kind == "bool_type":
        return "type", f"true or false is wanted here, not {text}", "write true or false"
    if kind in ("list_type", "tuple_type"):
        return "type", f"a list is wanted here, not {text}", "write [...]"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return "type", f"a mapping is wanted here, not {text}", "write {key: value}"
    if kind == "literal_error":
        expected = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return "unknown-value", f"{text} is none of {', '.join(expected)}", did_you_mean(str(given), expected)
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern"))
        hint = PATTERN_HINTS.get(pattern, f"it has to match {pattern}")
        return "name", f"{text} is not spelt as this has to be", hint
    if kind in ("too_short", "string_too_short"):
        return "range", "this is empty", "write at least one"
    if kind in ("too_long", "string_too_long"):
        return "range", "this is too long", f"at most {context.get('max_length')}"
    if kind in ("greater_than_equal", "greater_than"):
        return "range", f"{text} is too small", f"at least {context.get('ge', context.get('gt'))}"
    if kind in ("less_than_equal", "less_than"):
        return "range", f"{text} is too large", f"at most {context.get('le', context.get('lt'))}"
    return "value", f"{text}: {finding['msg']}", ""


def keys_of(model: type[BaseModel], path: NodePath) -> list[str]:
    """The keys that the part of the model at `path` knows, as files spell them."""
    for step in path:
        info = next((i for name, i in model.model_fields.items() if (i.alias or name) == step), None)
        if info is not None:
            model = _model_in(info.annotation) or model
    return _names(model)


def _names(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = _model_in(part)
        if found is not None:
            return found
    return None


def _given(tree: Tree, path: NodePath) -> list[str]:
    for step in path:
        if isinstance(tree, MappingNode) and isinstance(step, str) and step in tree.entries:
            tree = tree.entries[step].value
        elif not isinstance(tree, MappingNode | ScalarNode) and isinstance(step, int) and step < len(tree.items):
            tree = tree.items[step]
    return list(tree.entries) if isinstance(tree, MappingNode) else []


def _kind(tree: Tree) -> str:
    if isinstance(tree, ScalarNode):
        return quote_value(tree.text) if tree.text else "nothing"
    return "a list"
